package events

// Collide makes all hashes of a Recorder equal; it must be called before the Recorder is used.
func (r *Recorder) Collide() { r.mask = 0 }
