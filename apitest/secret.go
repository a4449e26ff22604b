package apitest

import corev1 "k8s.io/api/core/v1"

// takeStringData moves stringData to data. stringData overwrites data of the same name, and a read
// never returns stringData.
func takeStringData(secret *corev1.Secret) {
	if len(secret.StringData) > 0 && secret.Data == nil {
		secret.Data = make(map[string][]byte, len(secret.StringData))
	}
	for name, text := range secret.StringData {
		secret.Data[name] = []byte(text)
	}
	secret.StringData = nil
}
