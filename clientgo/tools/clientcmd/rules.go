package clientcmd

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	restclient "k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/klog/v2"
)

// WarningHandler handles warnings. A nil WarningHandler logs them at level 1.
type WarningHandler func(error)

// Warn passes a warning to the handler.
func (handler WarningHandler) Warn(err error) {
	if handler == nil {
		klog.V(1).Info(err)
		return
	}
	handler(err)
}

// ConfigAccess determines which files a config is read from and written to.
type ConfigAccess interface {
	// GetLoadingPrecedence returns the files that are read. The first file has the highest
	// precedence.
	GetLoadingPrecedence() []string
	// GetStartingConfig returns the config that ModifyConfig compares with the modified config.
	GetStartingConfig() (*clientcmdapi.Config, error)
	// GetDefaultFilename returns the file for new entries. It may not exist yet.
	GetDefaultFilename() string
	// IsExplicitFile reports whether the user has requested a single file.
	IsExplicitFile() bool
	// GetExplicitFile returns the requested file.
	GetExplicitFile() string
}

// ClientConfigLoader loads a config.
type ClientConfigLoader interface {
	ConfigAccess
	// IsDefaultConfig reports whether a connection is the default, which is used if nothing is
	// configured.
	IsDefaultConfig(*restclient.Config) bool
	// Load reads the files again and returns the config.
	Load() (*clientcmdapi.Config, error)
}

// ClientConfigLoadingRules determines which files are read.
type ClientConfigLoadingRules struct {
	// ExplicitPath is a file that must exist. If it is set, no other file is read.
	ExplicitPath string

	// Precedence lists the files to merge. If several files have an entry with the same name, the
	// entry of the first file is used. Files may be missing.
	Precedence []string

	// MigrationRules maps each file to its old location. If the file is missing, Load first copies
	// the old file to it.
	MigrationRules map[string]string

	// DoNotResolvePaths leaves relative paths unchanged. By default they start at the folder of
	// their file.
	DoNotResolvePaths bool

	// DefaultClientConfig is the default config. IsDefaultConfig compares with it.
	DefaultClientConfig ClientConfig

	// WarnIfAllMissing makes Load warn if all files are missing.
	WarnIfAllMissing bool

	// Warner gets the warning of WarnIfAllMissing.
	Warner WarningHandler
}

var _ ClientConfigLoader = &ClientConfigLoadingRules{}

// NewDefaultClientConfigLoadingRules returns kubectl's rules: the files in the environment variable
// KUBECONFIG, or ~/.kube/config.
func NewDefaultClientConfigLoadingRules() *ClientConfigLoadingRules {
	rules := &ClientConfigLoadingRules{MigrationRules: migrationRules()}
	if list := os.Getenv(RecommendedConfigPathEnvVar); list != "" {
		rules.Precedence = unique(filepath.SplitList(list))
		rules.WarnIfAllMissing = true
	} else {
		rules.Precedence = []string{RecommendedHomeFile}
	}
	return rules
}

// unique removes duplicates.
func unique(list []string) (once []string) {
	for _, s := range list {
		if !slices.Contains(once, s) {
			once = append(once, s)
		}
	}
	return once
}

// Load reads and merges the files. Its error has every mistake in the files.
func (rules *ClientConfigLoadingRules) Load() (*clientcmdapi.Config, error) {
	if err := rules.Migrate(); err != nil {
		return nil, err
	}
	files := rules.Precedence
	if rules.ExplicitPath != "" {
		if _, err := os.Stat(rules.ExplicitPath); os.IsNotExist(err) {
			return nil, err
		}
		files = []string{rules.ExplicitPath}
	}
	var wrong []error
	var missing []string
	merged := clientcmdapi.NewConfig()
	read := 0
	for _, file := range files {
		if file == "" {
			continue
		}
		config, err := LoadFromFile(file)
		switch {
		case errors.Is(err, os.ErrNotExist):
			missing = append(missing, file)
		case err != nil:
			wrong = append(wrong, fmt.Errorf("error loading config file \"%s\": %w", file, err))
		default:
			read++
			mergeConfig(merged, config)
		}
	}
	if rules.WarnIfAllMissing && len(missing) > 0 && read == 0 {
		rules.Warner.Warn(MissingConfigError{Missing: missing})
	}
	if rules.ResolvePaths() {
		if err := ResolveLocalPaths(merged); err != nil {
			wrong = append(wrong, err)
		}
	}
	return merged, utilerrors.NewAggregate(wrong)
}

// Migrate copies the old files of MigrationRules whose new files are missing.
func (rules *ClientConfigLoadingRules) Migrate() error {
	for destination, source := range rules.MigrationRules {
		if _, err := os.Stat(destination); err == nil || os.IsPermission(err) {
			continue
		} else if !os.IsNotExist(err) {
			return err
		}
		info, err := os.Stat(source)
		switch {
		case os.IsNotExist(err) || os.IsPermission(err):
			continue
		case err != nil:
			return err
		case info.IsDir():
			return fmt.Errorf("cannot migrate %v to %v because it is a directory", source, destination)
		}
		if err := copyFile(destination, source); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(destination, source string) error {
	in, err := os.Open(source)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(destination, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// GetLoadingPrecedence implements ConfigAccess.
func (rules *ClientConfigLoadingRules) GetLoadingPrecedence() []string {
	if rules.ExplicitPath != "" {
		return []string{rules.ExplicitPath}
	}
	return slices.Clone(rules.Precedence)
}

// GetStartingConfig implements ConfigAccess.
func (rules *ClientConfigLoadingRules) GetStartingConfig() (*clientcmdapi.Config, error) {
	config, err := NewNonInteractiveDeferredLoadingClientConfig(rules, &ConfigOverrides{}).RawConfig()
	switch {
	case err == nil:
		return &config, nil
	case os.IsNotExist(err):
		return clientcmdapi.NewConfig(), nil
	}
	return nil, err
}

// GetDefaultFilename implements ConfigAccess. It returns the explicit file, or else the first file
// of Precedence that exists, or else the first file of Precedence.
func (rules *ClientConfigLoadingRules) GetDefaultFilename() string {
	if rules.IsExplicitFile() {
		return rules.GetExplicitFile()
	}
	for _, file := range rules.Precedence {
		if _, err := os.Stat(file); err == nil {
			return file
		}
	}
	if len(rules.Precedence) > 0 {
		return rules.Precedence[0]
	}
	return ""
}

// IsExplicitFile implements ConfigAccess.
func (rules *ClientConfigLoadingRules) IsExplicitFile() bool { return rules.ExplicitPath != "" }

// GetExplicitFile implements ConfigAccess.
func (rules *ClientConfigLoadingRules) GetExplicitFile() string { return rules.ExplicitPath }

// IsDefaultConfig implements ClientConfigLoader.
func (rules *ClientConfigLoadingRules) IsDefaultConfig(config *restclient.Config) bool {
	if rules.DefaultClientConfig == nil {
		return false
	}
	usual, err := rules.DefaultClientConfig.ClientConfig()
	return err == nil && reflect.DeepEqual(config, usual)
}

// ResolvePaths reports whether Load makes relative paths start at the folder of their file.
func (rules ClientConfigLoadingRules) ResolvePaths() bool { return !rules.DoNotResolvePaths }

// ClientConfigGetter is a loader whose config comes from a function.
type ClientConfigGetter struct {
	kubeconfigGetter KubeconfigGetter
}

// KubeconfigGetter returns a config.
type KubeconfigGetter func() (*clientcmdapi.Config, error)

var _ ClientConfigLoader = &ClientConfigGetter{}

// Load implements ClientConfigLoader.
func (g *ClientConfigGetter) Load() (*clientcmdapi.Config, error) { return g.kubeconfigGetter() }

// GetLoadingPrecedence implements ConfigAccess: there are no files.
func (g *ClientConfigGetter) GetLoadingPrecedence() []string { return nil }

// GetStartingConfig implements ConfigAccess.
func (g *ClientConfigGetter) GetStartingConfig() (*clientcmdapi.Config, error) {
	return g.kubeconfigGetter()
}

// GetDefaultFilename implements ConfigAccess: there are no files.
func (g *ClientConfigGetter) GetDefaultFilename() string { return "" }

// IsExplicitFile implements ConfigAccess: there are no files.
func (g *ClientConfigGetter) IsExplicitFile() bool { return false }

// GetExplicitFile implements ConfigAccess: there are no files.
func (g *ClientConfigGetter) GetExplicitFile() string { return "" }

// IsDefaultConfig implements ClientConfigLoader. A config from a function is never the default.
func (g *ClientConfigGetter) IsDefaultConfig(*restclient.Config) bool { return false }
