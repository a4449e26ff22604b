package clientcmd

import (
	"os"
	"path/filepath"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// PathOptions determines the files that commands such as kubectl config read and write.
type PathOptions struct {
	// GlobalFile is the default file.
	GlobalFile string
	// EnvVar is the environment variable that lists files.
	EnvVar string
	// ExplicitFileFlag is the name of the flag with which a user names a single file. It is used in
	// messages.
	ExplicitFileFlag string
	// GlobalFileSubpath is GlobalFile in a short form for messages.
	GlobalFileSubpath string

	LoadingRules *ClientConfigLoadingRules
}

var _ ConfigAccess = &PathOptions{}

// NewDefaultPathOptions returns kubectl's options.
func NewDefaultPathOptions() *PathOptions {
	rules := NewDefaultClientConfigLoadingRules()
	rules.DoNotResolvePaths = true // paths must be written back unchanged
	return &PathOptions{
		GlobalFile:        RecommendedHomeFile,
		EnvVar:            RecommendedConfigPathEnvVar,
		ExplicitFileFlag:  RecommendedConfigPathFlag,
		GlobalFileSubpath: filepath.Join(RecommendedHomeDir, RecommendedFileName),
		LoadingRules:      rules,
	}
}

// GetEnvVarFiles returns the files that the environment variable EnvVar lists.
func (o *PathOptions) GetEnvVarFiles() []string {
	if o.EnvVar == "" {
		return []string{}
	}
	list := os.Getenv(o.EnvVar)
	if list == "" {
		return []string{}
	}
	return unique(filepath.SplitList(list))
}

// GetLoadingPrecedence implements ConfigAccess.
func (o *PathOptions) GetLoadingPrecedence() []string {
	file := o.GlobalFile
	if o.IsExplicitFile() {
		file = o.GetExplicitFile()
	} else if several := o.GetEnvVarFiles(); len(several) > 0 {
		return several
	}
	return []string{file}
}

// GetStartingConfig implements ConfigAccess.
func (o *PathOptions) GetStartingConfig() (*clientcmdapi.Config, error) {
	rules := *o.LoadingRules
	rules.Precedence = o.GetLoadingPrecedence()
	return rules.GetStartingConfig()
}

// GetDefaultFilename implements ConfigAccess. It returns the first available file of: the explicit
// file, the first existing file in EnvVar, the last file in EnvVar, the global file.
func (o *PathOptions) GetDefaultFilename() string {
	if o.IsExplicitFile() {
		return o.GetExplicitFile()
	}
	files := o.GetEnvVarFiles()
	for _, file := range files {
		if _, err := os.Stat(file); err == nil {
			return file
		}
	}
	if len(files) > 0 {
		return files[len(files)-1]
	}
	return o.GlobalFile
}

// IsExplicitFile implements ConfigAccess.
func (o *PathOptions) IsExplicitFile() bool { return o.LoadingRules.ExplicitPath != "" }

// GetExplicitFile implements ConfigAccess.
func (o *PathOptions) GetExplicitFile() string { return o.LoadingRules.ExplicitPath }
