package keyutil

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestKeysAreWrittenAndReadBack(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a", "b", "key.pem")
	made, generated, err := LoadOrGenerateKeyFile(file)
	require.NoError(t, err)
	require.True(t, generated)
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.EqualValues(t, 0o600, info.Mode().Perm())
	again, generated, err := LoadOrGenerateKeyFile(file)
	require.NoError(t, err)
	require.False(t, generated)
	require.Equal(t, made, again)
	private, err := PrivateKeyFromFile(file)
	require.NoError(t, err)
	public, err := PublicKeysFromFile(file)
	require.NoError(t, err)
	require.True(t, private.(*ecdsa.PrivateKey).PublicKey.Equal(public[0]))
	_, _, err = LoadOrGenerateKeyFile(filepath.Dir(file))
	require.ErrorContains(t, err, "error loading key")
	require.NoError(t, os.WriteFile(file, []byte("no key"), 0o600))
	data, _, err := LoadOrGenerateKeyFile(file)
	require.ErrorContains(t, err, "error loading key")
	require.Nil(t, data)
}

func TestEveryKindOfBlock(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	pkcs1, err := MarshalPrivateKeyToPEM(key)
	require.NoError(t, err)
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	require.NoError(t, err)
	all := bytes.Join([][]byte{
		pem.EncodeToMemory(&pem.Block{Type: "OTHER", Bytes: []byte("x")}),
		pkcs1,
		pem.EncodeToMemory(&pem.Block{Type: PrivateKeyBlockType, Bytes: pkcs8}),
		pem.EncodeToMemory(&pem.Block{Type: PublicKeyBlockType, Bytes: public}),
		pem.EncodeToMemory(&pem.Block{Type: "KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}),
	}, nil)
	private, err := ParsePrivateKeyPEM(all)
	require.NoError(t, err)
	require.True(t, key.Equal(private))
	keys, err := ParsePublicKeysPEM(all)
	require.NoError(t, err)
	require.Len(t, keys, 4)
	for _, k := range keys {
		require.True(t, key.PublicKey.Equal(k))
	}
}

func TestInvalidKeysAreErrors(t *testing.T) {
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	_, err = MarshalPrivateKeyToPEM(edwards)
	require.ErrorContains(t, err, "ed25519.PrivateKey")
	der, err := x509.MarshalPKCS8PrivateKey(edwards)
	require.NoError(t, err)
	edwardsPEM := pem.EncodeToMemory(&pem.Block{Type: PrivateKeyBlockType, Bytes: der})
	for _, data := range [][]byte{nil, []byte("x")} {
		_, err := ParsePrivateKeyPEM(data)
		require.Error(t, err)
	}
	for _, data := range [][]byte{nil, []byte("x"), edwardsPEM} {
		_, err = ParsePublicKeysPEM(data)
		require.Error(t, err)
	}
	// As with client-go, PKCS #8 may contain a key of any kind.
	key, err := ParsePrivateKeyPEM(edwardsPEM)
	require.NoError(t, err)
	require.Equal(t, edwards, key)
	_, err = PrivateKeyFromFile("/does/not/exist")
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = PublicKeysFromFile("/does/not/exist")
	require.ErrorIs(t, err, os.ErrNotExist)
}
