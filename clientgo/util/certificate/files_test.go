package certificate_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/certificate"
)

func TestFilesOfAStore(t *testing.T) {
	a := newCertificateAuthority(t, time.Hour)
	certs, keys := t.TempDir(), t.TempDir()
	given := [2]string{filepath.Join(t.TempDir(), "c"), filepath.Join(t.TempDir(), "k")}
	store, err := certificate.NewFileStore("x", certs, keys, given[0], given[1])
	require.NoError(t, err)
	name := func() string {
		cert, err := store.Current()
		require.NoError(t, err)
		return cert.Leaf.Subject.CommonName
	}
	put := func(who, cert, key string) {
		c, k := a.pair(who)
		require.NoError(t, os.WriteFile(cert, c, 0o600))
		require.NoError(t, os.WriteFile(key, k, 0o600))
	}

	_, err = store.Current()
	var none *certificate.NoCertKeyError
	require.ErrorAs(t, err, &none)
	put("by prefix", filepath.Join(certs, "x.crt"), filepath.Join(keys, "x.key"))
	require.Equal(t, "by prefix", name())
	put("given", given[0], given[1])
	require.Equal(t, "given", name())
	loaded, err := store.Update(a.pair("newest"))
	require.NoError(t, err)
	require.Equal(t, "newest", loaded.Leaf.Subject.CommonName)
	require.Equal(t, "newest", name())
	require.Equal(t, filepath.Join(certs, "x-current.pem"), store.CurrentPath())
	link, err := os.Readlink(store.CurrentPath())
	require.NoError(t, err)
	require.Regexp(t, `x-\d{4}-\d\d-\d\d-\d\d-\d\d-\d\d\.pem$`, link)
	info, err := os.Stat(link)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "only the user may read the file, because it has the key")

	cert, _ := a.pair("one")
	_, key := a.pair("another")
	_, err = store.Update(cert, key)
	require.Error(t, err, "the key does not belong to the certificate")
	_, err = store.Update([]byte("no"), key)
	require.ErrorContains(t, err, "invalid certificate data: ")
	_, err = store.Update(cert, []byte("no"))
	require.EqualError(t, err, "invalid key data")
	require.Equal(t, "newest", name(), "a failed update within the same second leaves the file unchanged")
}

func TestAFileHasTheCertificatesAndThenTheKey(t *testing.T) {
	a := newCertificateAuthority(t, time.Hour)
	dir := t.TempDir()
	store, err := certificate.NewFileStore("x", dir, dir, "", "")
	require.NoError(t, err)
	cert, key := a.pair("me")
	above, other := a.pair("authority")
	// A signer's response may contain more than certificates.
	_, err = store.Update(slices.Concat([]byte("comment\n"), cert, above, other), key)
	require.NoError(t, err)
	written, err := os.ReadFile(store.CurrentPath())
	require.NoError(t, err)
	require.Equal(t, string(slices.Concat(cert, above, key)), string(written))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 2, "the directory has the file and the link")
	_, err = store.Update(cert, other)
	require.Error(t, err)
	entries, err = os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 2, "a failed update leaves no file")
}

func TestAStoreRecoversAfterACrash(t *testing.T) {
	a := newCertificateAuthority(t, time.Hour)
	dir := t.TempDir()
	open := func() (certificate.FileStore, error) { return certificate.NewFileStore("x", dir, dir, "", "") }
	store, err := open()
	require.NoError(t, err)
	_, err = store.Update(a.pair("me"))
	require.NoError(t, err)
	updated := filepath.Join(dir, "x-updated.pem")
	// as after a crash before the link was renamed
	require.NoError(t, os.Rename(store.CurrentPath(), updated))
	store, err = open()
	require.NoError(t, err)
	_, err = store.Current()
	require.NoError(t, err)
	require.NoFileExists(t, updated)

	require.NoError(t, os.Symlink(filepath.Join(dir, "gone"), updated))
	_, err = open()
	require.NoError(t, err)
	_, err = os.Lstat(updated)
	require.ErrorIs(t, err, os.ErrNotExist)

	require.NoError(t, os.WriteFile(updated, nil, 0o600))
	_, err = open()
	require.NoError(t, err, "a valid current link is enough to open the store")
	require.NoError(t, os.Remove(store.CurrentPath()))
	_, err = open()
	require.ErrorContains(t, err, "to be a symlink")
	require.NoError(t, os.Remove(updated))
	require.NoError(t, os.WriteFile(store.CurrentPath(), nil, 0o600))
	_, err = store.Update(a.pair("me"))
	require.ErrorContains(t, err, "to be a symlink")
}
