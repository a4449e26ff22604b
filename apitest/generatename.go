package apitest

// Limits of generated names, as on the real server.
const (
	maxGeneratedBase = 63 - suffixLength
	generateAttempts = 8
)

// generateName sets a random name that begins with the object's generateName.
func (s *Server) generateName(obj Object) {
	base := obj.GetGenerateName()
	obj.SetName(base[:min(len(base), maxGeneratedBase)] + s.ids.suffix())
}
