package certificate

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	certutil "k8s.io/client-go/util/cert"
	"k8s.io/klog/v2"
)

// FileStore is a Store that uses files.
type FileStore interface {
	Store
	// CurrentPath returns the path of the PEM file with the current certificate and key. The path
	// is a link to a file with a date in its name.
	CurrentPath() string
}

// NewFileStore is NewFileStoreWithLogger with klog.Background().
func NewFileStore(pairNamePrefix string, certDirectory string, keyDirectory string, certFile string, keyFile string) (FileStore, error) {
	return NewFileStoreWithLogger(klog.Background(), pairNamePrefix, certDirectory, keyDirectory, certFile, keyFile)
}

// NewFileStoreWithLogger returns a store with files PREFIX-DATE.pem in certDirectory. Each file has
// a certificate and its key. The link PREFIX-current.pem points to the newest file. If the link
// does not exist, the store reads certFile and keyFile, or PREFIX.crt in certDirectory and
// PREFIX.key in keyDirectory. If a process crashed while it replaced the link, the link is
// repaired.
func NewFileStoreWithLogger(logger klog.Logger, pairNamePrefix string, certDirectory string, keyDirectory string, certFile string, keyFile string) (FileStore, error) {
	s := &files{logger: logger, prefix: pairNamePrefix, certs: certDirectory, keys: keyDirectory, cert: certFile, key: keyFile}
	if err := s.recover(); err != nil {
		return nil, err
	}
	return s, nil
}

type files struct {
	logger                         klog.Logger
	prefix, certs, keys, cert, key string
}

// name returns the path of a file with a certificate and its key. The file name is the prefix, a
// hyphen, the argument and ".pem".
func (s *files) name(what string) string {
	return filepath.Join(s.certs, s.prefix+"-"+what+".pem")
}

func (s *files) CurrentPath() string { return s.name("current") }

// recover completes the replacement of the link if a crash has interrupted it, or removes the
// leftover temporary link.
func (s *files) recover() error {
	there, err := exists(s.CurrentPath())
	if err != nil {
		return err
	}
	updated := s.name("updated")
	info, err := os.Lstat(updated)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0 && there:
		return os.Remove(updated)
	case info.Mode()&fs.ModeSymlink != 0:
		return os.Rename(updated, s.CurrentPath())
	case there:
		return nil // the next Update will report the error
	}
	return fmt.Errorf("expected %q to be a symlink but it is a file", updated)
}

func (s *files) Current() (*tls.Certificate, error) {
	pair := s.CurrentPath()
	if there, err := exists(pair); err != nil {
		return nil, err
	} else if there {
		s.logger.Info("Loading cert/key pair from a file", "filePath", pair)
		return load(pair, pair)
	}
	cert, key := filepath.Join(s.certs, s.prefix+".crt"), filepath.Join(s.keys, s.prefix+".key")
	for _, f := range [][2]string{{s.cert, s.key}, {cert, key}} {
		certThere, err := exists(f[0])
		if err != nil {
			return nil, err
		}
		keyThere, err := exists(f[1])
		if err != nil {
			return nil, err
		}
		if certThere && keyThere {
			s.logger.Info("Loading cert/key pair from files", "certFile", f[0], "keyFile", f[1])
			return load(f[0], f[1])
		}
	}
	none := NoCertKeyError(fmt.Sprintf("no cert/key files read at %q, (%q, %q) or (%q, %q)", pair, s.cert, s.key, cert, key))
	return nil, &none
}

func (s *files) Update(cert, key []byte) (*tls.Certificate, error) {
	if err := os.MkdirAll(s.certs, 0o755); err != nil {
		return nil, fmt.Errorf("could not create directory %q to store certificates: %w", s.certs, err)
	}
	data, err := encode(cert, key)
	if err != nil {
		return nil, err
	}
	pair := s.name(time.Now().Format("2006-01-02-15-04-05"))
	loaded, err := write(pair, data)
	if err != nil {
		return nil, err
	}
	if err := s.link(pair); err != nil {
		return nil, err
	}
	return loaded, nil
}

// encode returns the certificates and the key in PEM. The first certificate belongs to the key.
// encode drops everything else that a signer may have added.
func encode(cert, key []byte) ([]byte, error) {
	certs, err := certutil.ParseCertsPEM(cert)
	if err != nil {
		return nil, fmt.Errorf("invalid certificate data: %w", err)
	}
	block, _ := pem.Decode(key)
	if block == nil {
		return nil, errors.New("invalid key data")
	}
	var data []byte
	for _, c := range certs {
		data = append(data, pem.EncodeToMemory(&pem.Block{Type: certutil.CertificateBlockType, Bytes: c.Raw})...)
	}
	return append(data, pem.EncodeToMemory(block)...), nil
}

// write writes a certificate and its key to a file in one step, and returns them. Two updates
// within a second write the same file, which may be the current file. So write checks the data
// before it replaces the file.
func write(path string, data []byte) (loaded *tls.Certificate, err error) {
	// readable only by the user
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".")
	if err != nil {
		return nil, fmt.Errorf("could not open a file for %q: %w", path, err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync() // before the link points to the file
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	if loaded, err = load(f.Name(), f.Name()); err != nil {
		return nil, err
	}
	return loaded, os.Rename(f.Name(), path)
}

// link makes the link point to the file with a new pair, in one step.
func (s *files) link(pair string) error {
	current, updated := s.CurrentPath(), s.name("updated")
	for _, path := range []string{current, updated} {
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case info.Mode()&fs.ModeSymlink == 0:
			return fmt.Errorf("expected %q to be a symlink but it is a file", path)
		}
	}
	if err := os.Remove(updated); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	pair, err := filepath.Abs(pair)
	if err != nil {
		return err
	}
	if err := os.Symlink(pair, updated); err != nil {
		return fmt.Errorf("unable to create a symlink from %q to %q: %w", updated, pair, err)
	}
	return os.Rename(updated, current)
}

// load reads a certificate and a key, and sets the certificate's Leaf.
func load(certFile, keyFile string) (*tls.Certificate, error) {
	cert, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return nil, fmt.Errorf("could not convert data from %q and %q into cert/key pair: %w", certFile, keyFile, err)
	}
	if cert.Leaf == nil { // happens with GODEBUG=x509keypairleaf=0
		if cert.Leaf, err = x509.ParseCertificate(cert.Certificate[0]); err != nil {
			return nil, fmt.Errorf("unable to parse certificate data of %q: %w", certFile, err)
		}
	}
	return &cert, nil
}

// exists reports whether a file exists. For "" it returns false.
func exists(path string) (bool, error) {
	if path == "" {
		return false, nil
	}
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
