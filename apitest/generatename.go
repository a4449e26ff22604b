package apitest

// Bounds of generated names, as on the real server.
const (
	maxGeneratedBase = 63 - suffixLength
	generateAttempts = 8
)

// generateName gives an object a name that begins as its generateName does.
func (s *Server) generateName(obj Object) {
	base := obj.GetGenerateName()
	obj.SetName(base[:min(len(base), maxGeneratedBase)] + s.ids.suffix())
}
