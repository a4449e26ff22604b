package storage

import corev1 "k8s.io/api/core/v1"

// mergeStringData moves the entries of stringData to data, where they replace entries of the same
// name. A read never returns stringData.
func mergeStringData(secret *corev1.Secret) {
	if len(secret.StringData) > 0 && secret.Data == nil {
		secret.Data = make(map[string][]byte, len(secret.StringData))
	}
	for name, text := range secret.StringData {
		secret.Data[name] = []byte(text)
	}
	secret.StringData = nil
}
