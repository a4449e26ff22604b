// Package keyutil makes, writes and reads private and public PEM keys.
package keyutil

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Types of PEM blocks.
const (
	ECPrivateKeyBlockType  = "EC PRIVATE KEY"
	RSAPrivateKeyBlockType = "RSA PRIVATE KEY"
	PrivateKeyBlockType    = "PRIVATE KEY"
	PublicKeyBlockType     = "PUBLIC KEY"
)

// MakeEllipticPrivateKeyPEM returns a new ECDSA key on the curve P-256, in PEM.
func MakeEllipticPrivateKeyPEM() ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	return MarshalPrivateKeyToPEM(key)
}

// MarshalPrivateKeyToPEM encodes an RSA or ECDSA key. It returns an error for other keys.
func MarshalPrivateKeyToPEM(privateKey crypto.PrivateKey) ([]byte, error) {
	switch key := privateKey.(type) {
	case *ecdsa.PrivateKey:
		der, err := x509.MarshalECPrivateKey(key)
		if err != nil {
			return nil, err
		}
		return pem.EncodeToMemory(&pem.Block{Type: ECPrivateKeyBlockType, Bytes: der}), nil
	case *rsa.PrivateKey:
		return pem.EncodeToMemory(&pem.Block{Type: RSAPrivateKeyBlockType, Bytes: x509.MarshalPKCS1PrivateKey(key)}), nil
	default:
		return nil, fmt.Errorf("private key is not a recognized type: %T", privateKey)
	}
}

// WriteKey writes a key to a file that only its owner may read, and creates missing folders.
func WriteKey(keyPath string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(keyPath), 0o755); err != nil {
		return err
	}
	return os.WriteFile(keyPath, data, 0o600)
}

// LoadOrGenerateKeyFile returns the key in a file. If the file does not exist, it writes a new key
// to the file. A file without a private key is an error.
func LoadOrGenerateKeyFile(keyPath string) (data []byte, wasGenerated bool, err error) {
	data, err = os.ReadFile(keyPath)
	if err == nil {
		if _, err := ParsePrivateKeyPEM(data); err != nil {
			return nil, false, fmt.Errorf("error loading key from %s: %w", keyPath, err)
		}
		return data, false, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, false, fmt.Errorf("error loading key from %s: %w", keyPath, err)
	}
	if data, err = MakeEllipticPrivateKeyPEM(); err != nil {
		return nil, false, fmt.Errorf("error generating key: %w", err)
	}
	if err := WriteKey(keyPath, data); err != nil {
		return nil, false, fmt.Errorf("error writing key to %s: %w", keyPath, err)
	}
	return data, true, nil
}

// PrivateKeyFromFile returns the first private key of a file.
func PrivateKeyFromFile(file string) (interface{}, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	key, err := ParsePrivateKeyPEM(data)
	if err != nil {
		return nil, fmt.Errorf("error reading private key file %s: %w", file, err)
	}
	return key, nil
}

// PublicKeysFromFile returns the public keys of a file, including the public keys of its private
// keys.
func PublicKeysFromFile(file string) ([]interface{}, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	keys, err := ParsePublicKeysPEM(data)
	if err != nil {
		return nil, fmt.Errorf("error reading public key file %s: %w", file, err)
	}
	return keys, nil
}

// ParsePrivateKeyPEM returns the first private key: an *rsa.PrivateKey, an *ecdsa.PrivateKey, or
// another PKCS #8 key, such as an ed25519.PrivateKey. Other blocks are skipped.
func ParsePrivateKeyPEM(keyData []byte) (interface{}, error) {
	for block := range blocks(keyData) {
		if key := privateKey(block); key != nil {
			return key, nil
		}
	}
	return nil, errors.New("data does not contain a valid RSA or ECDSA private key")
}

// ParsePublicKeysPEM returns the public keys in PEM data, including the public keys of certificates
// and private keys. Each is an *rsa.PublicKey or an *ecdsa.PublicKey.
func ParsePublicKeysPEM(keyData []byte) ([]interface{}, error) {
	var keys []interface{}
	for block := range blocks(keyData) {
		if key := publicKey(block.Bytes); key != nil {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("data does not contain any valid RSA or ECDSA public keys")
	}
	return keys, nil
}

// blocks yields the PEM blocks of data.
func blocks(data []byte) func(func(*pem.Block) bool) {
	return func(yield func(*pem.Block) bool) {
		for {
			var block *pem.Block
			if block, data = pem.Decode(data); block == nil || !yield(block) {
				return
			}
		}
	}
}

// privateKey returns the key of a block, or nil.
func privateKey(block *pem.Block) interface{} {
	switch block.Type {
	case ECPrivateKeyBlockType:
		if key, err := x509.ParseECPrivateKey(block.Bytes); err == nil {
			return key
		}
	case RSAPrivateKeyBlockType:
		if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
			return key
		}
	case PrivateKeyBlockType:
		if key, err := x509.ParsePKCS8PrivateKey(block.Bytes); err == nil {
			return key
		}
	}
	return nil
}

// publicKey returns the public key in data, or the public key of the private key or certificate in
// data. If data has no key and no certificate, it returns nil. It ignores the type of the PEM
// block, which is wrong in some files.
func publicKey(data []byte) interface{} {
	if key, err := x509.ParsePKCS1PrivateKey(data); err == nil {
		return &key.PublicKey
	}
	if key, err := x509.ParseECPrivateKey(data); err == nil {
		return &key.PublicKey
	}
	key, err := x509.ParsePKCS8PrivateKey(data)
	if err != nil {
		key, err = x509.ParsePKIXPublicKey(data)
	}
	if err != nil {
		certificate, err := x509.ParseCertificate(data)
		if err != nil {
			return nil
		}
		key = certificate.PublicKey
	}
	switch key := key.(type) {
	case *rsa.PrivateKey:
		return &key.PublicKey
	case *ecdsa.PrivateKey:
		return &key.PublicKey
	case *rsa.PublicKey, *ecdsa.PublicKey:
		return key
	}
	return nil
}
