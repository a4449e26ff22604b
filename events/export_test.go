package events

// Collide has all hashes of a Recorder be the same, before it is used.
func (r *Recorder) Collide() { r.mask = 0 }
