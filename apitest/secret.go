package apitest

import corev1 "k8s.io/api/core/v1"

// takeStringData moves the texts that a client wrote to where the data is. They win over
// data of the same name, and are never read again.
func takeStringData(secret *corev1.Secret) {
	if len(secret.StringData) > 0 && secret.Data == nil {
		secret.Data = make(map[string][]byte, len(secret.StringData))
	}
	for name, text := range secret.StringData {
		secret.Data[name] = []byte(text)
	}
	secret.StringData = nil
}
