package clientcmd

//lint:file-ignore SA1019 preferences are kept, though nothing reads them

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	restclient "k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// UseModifyConfigLock makes ModifyConfig lock each file that it may write, with a lock file beside
// it. Without locks, if two programs write at the same time, the changes of one program are lost.
var UseModifyConfigLock = true

// ModifyConfig writes the differences between newConfig and the files. A changed entry goes to the
// file that it came from, and a new entry goes to the default file. If relativizePaths is true,
// paths below the folder of a file become relative to that folder. ModifyConfig returns an error if
// another program has locked a file.
func ModifyConfig(configAccess ConfigAccess, newConfig clientcmdapi.Config, relativizePaths bool) (err error) {
	if UseModifyConfigLock {
		unlock, err := lockFiles(configAccess.GetLoadingPrecedence())
		if err != nil {
			return err
		}
		defer unlock()
	}
	starting, err := configAccess.GetStartingConfig()
	if err != nil {
		return err
	}
	if reflect.DeepEqual(*starting, newConfig) {
		return nil
	}
	m := modification{access: configAccess, files: map[string]*clientcmdapi.Config{}}
	if starting.CurrentContext != newConfig.CurrentContext {
		if err := m.setCurrentContext(newConfig.CurrentContext); err != nil {
			return err
		}
	}
	if !reflect.DeepEqual(starting.Preferences, newConfig.Preferences) {
		if err := m.setPreferences(newConfig.Preferences); err != nil {
			return err
		}
	}
	clusters := entries[clientcmdapi.Cluster]{
		of:     func(c *clientcmdapi.Config) map[string]*clientcmdapi.Cluster { return c.Clusters },
		origin: func(c *clientcmdapi.Cluster) *string { return &c.LocationOfOrigin },
	}
	contexts := entries[clientcmdapi.Context]{
		of:     func(c *clientcmdapi.Config) map[string]*clientcmdapi.Context { return c.Contexts },
		origin: func(c *clientcmdapi.Context) *string { return &c.LocationOfOrigin },
	}
	users := entries[clientcmdapi.AuthInfo]{
		of:     func(c *clientcmdapi.Config) map[string]*clientcmdapi.AuthInfo { return c.AuthInfos },
		origin: func(c *clientcmdapi.AuthInfo) *string { return &c.LocationOfOrigin },
	}
	if relativizePaths {
		clusters.relativize, users.relativize = RelativizeClusterLocalPaths, RelativizeAuthInfoLocalPaths
	}
	if err := errors.Join(clusters.modify(&m, starting, &newConfig), contexts.modify(&m, starting, &newConfig), users.modify(&m, starting, &newConfig)); err != nil {
		return err
	}
	return m.write()
}

// modification has the files to write.
type modification struct {
	access ConfigAccess
	files  map[string]*clientcmdapi.Config
}

// file returns the content of a file and marks the file to be written. For a missing file it
// returns an empty config.
func (m *modification) file(name string) (*clientcmdapi.Config, error) {
	if config, ok := m.files[name]; ok {
		return config, nil
	}
	config, err := m.read(name)
	if err == nil {
		m.files[name] = config
	}
	return config, err
}

func (m *modification) read(name string) (*clientcmdapi.Config, error) {
	if config, ok := m.files[name]; ok {
		return config, nil
	}
	config, err := LoadFromFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return clientcmdapi.NewConfig(), nil
	}
	return config, err
}

// write writes the files in the order of their names.
func (m *modification) write() error {
	names := make([]string, 0, len(m.files))
	for name := range m.files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if err := WriteToFile(*m.files[name], name); err != nil {
			return err
		}
	}
	return nil
}

// setCurrentContext sets the name in the default file, which has the highest precedence. An empty
// name removes the first current context in the files. Then the current context of the next file is
// used.
func (m *modification) setCurrentContext(name string) error {
	if name != "" || m.access.IsExplicitFile() {
		config, err := m.file(m.access.GetDefaultFilename())
		if err == nil {
			config.CurrentContext = name
		}
		return err
	}
	for _, file := range m.access.GetLoadingPrecedence() {
		config, err := m.read(file)
		if err != nil {
			return err
		}
		if config.CurrentContext != "" {
			config.CurrentContext, m.files[file] = "", config
			return nil
		}
	}
	return nil
}

func (m *modification) setPreferences(preferences clientcmdapi.Preferences) error {
	config, err := m.file(m.access.GetDefaultFilename())
	if err == nil {
		config.Preferences = preferences
	}
	return err
}

// entries gives access to the clusters, contexts or users of a config.
type entries[T any] struct {
	of         func(*clientcmdapi.Config) map[string]*T
	origin     func(*T) *string
	relativize func(*T) error // nil if paths are not changed
}

// modify records added, changed and removed entries in the files of m.
func (e entries[T]) modify(m *modification, before, after *clientcmdapi.Config) error {
	for name, entry := range e.of(after) {
		if old, ok := e.of(before)[name]; ok && reflect.DeepEqual(old, entry) {
			continue
		}
		changed := *entry
		file := e.fileOf(m, &changed)
		config, err := m.file(file)
		if err != nil {
			return err
		}
		*e.origin(&changed) = file
		if e.relativize != nil {
			if err := e.relativize(&changed); err != nil {
				return err
			}
		}
		e.of(config)[name] = &changed
	}
	for name, entry := range e.of(before) {
		if _, ok := e.of(after)[name]; ok {
			continue
		}
		config, err := m.file(e.fileOf(m, entry))
		if err != nil {
			return err
		}
		delete(e.of(config), name)
	}
	return nil
}

func (e entries[T]) fileOf(m *modification, entry *T) string {
	if file := *e.origin(entry); file != "" {
		return file
	}
	return m.access.GetDefaultFilename()
}

// lockFiles creates a lock file for each file. All programs lock in the same order, sorted by name.
func lockFiles(files []string) (unlock func(), err error) {
	var locked []string
	unlock = func() {
		for _, lock := range locked {
			_ = os.Remove(lock)
		}
	}
	files = slices.Clone(files)
	slices.Sort(files)
	for _, file := range slices.Compact(files) {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			unlock()
			return nil, err
		}
		lock := file + ".lock"
		f, err := os.OpenFile(lock, os.O_CREATE|os.O_EXCL, 0)
		if err != nil {
			unlock()
			// if os.IsExist(err), another program is writing the file, or has ended while it was
			// writing
			return nil, err
		}
		_ = f.Close()
		locked = append(locked, lock)
	}
	return unlock, nil
}

// PersisterForUser returns a persister that writes the configuration of a user's auth provider to
// the user's file.
func PersisterForUser(configAccess ConfigAccess, user string) restclient.AuthProviderConfigPersister {
	return &persister{configAccess, user}
}

type persister struct {
	access ConfigAccess
	user   string
}

// Persist implements rest.AuthProviderConfigPersister. If the user no longer exists, it does
// nothing.
func (p *persister) Persist(config map[string]string) error {
	starting, err := p.access.GetStartingConfig()
	if err != nil {
		return err
	}
	changed := starting.DeepCopy()
	user, ok := changed.AuthInfos[p.user]
	if !ok || user.AuthProvider == nil {
		return nil
	}
	user.AuthProvider.Config = config
	return ModifyConfig(p.access, *changed, false)
}
