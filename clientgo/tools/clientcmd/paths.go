package clientcmd

import (
	"fmt"
	"path/filepath"
	"strings"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// GetClusterFileReferences returns the fields of a cluster that are paths.
func GetClusterFileReferences(cluster *clientcmdapi.Cluster) []*string {
	return []*string{&cluster.CertificateAuthority}
}

// GetAuthInfoFileReferences returns the fields of a user that are paths. A command is a path if it
// contains a separator.
func GetAuthInfoFileReferences(authInfo *clientcmdapi.AuthInfo) []*string {
	refs := []*string{&authInfo.ClientCertificate, &authInfo.ClientKey, &authInfo.TokenFile}
	if authInfo.Exec != nil && strings.ContainsRune(authInfo.Exec.Command, filepath.Separator) {
		refs = append(refs, &authInfo.Exec.Command)
	}
	return refs
}

// GetConfigFileReferences returns the fields of a config that are paths.
func GetConfigFileReferences(config *clientcmdapi.Config) (refs []*string) {
	for _, cluster := range config.Clusters {
		refs = append(refs, GetClusterFileReferences(cluster)...)
	}
	for _, user := range config.AuthInfos {
		refs = append(refs, GetAuthInfoFileReferences(user)...)
	}
	return refs
}

// ResolvePaths makes relative paths start at base.
func ResolvePaths(refs []*string, base string) error {
	for _, ref := range refs {
		if *ref != "" && !filepath.IsAbs(*ref) {
			*ref = filepath.Join(base, *ref)
		}
	}
	return nil
}

// RelativizePathWithNoBacksteps makes paths below base relative to base. Other paths stay
// unchanged.
func RelativizePathWithNoBacksteps(refs []*string, base string) error {
	for _, ref := range refs {
		if *ref == "" {
			continue
		}
		relative, err := MakeRelative(*ref, base)
		if err != nil {
			return err
		}
		if strings.HasPrefix(relative, "../") {
			if !filepath.IsAbs(*ref) {
				return fmt.Errorf("%q is not absolute, and not below %q", *ref, base)
			}
			continue
		}
		*ref = relative
	}
	return nil
}

// MakeRelative returns path relative to base. An empty path stays empty.
func MakeRelative(path, base string) (string, error) {
	if path == "" {
		return "", nil
	}
	relative, err := filepath.Rel(base, path)
	if err != nil {
		return path, err
	}
	return relative, nil
}

// ResolveConfigPaths makes all relative paths of a config start at base.
func ResolveConfigPaths(config *clientcmdapi.Config, base string) error {
	return ResolvePaths(GetConfigFileReferences(config), base)
}

// RelativizeConfigPaths makes all paths of a config below base relative to base.
func RelativizeConfigPaths(config *clientcmdapi.Config, base string) error {
	return RelativizePathWithNoBacksteps(GetConfigFileReferences(config), base)
}

// ResolveLocalPaths makes the relative paths of each entry start at the folder of the entry's file.
func ResolveLocalPaths(config *clientcmdapi.Config) error {
	for _, cluster := range config.Clusters {
		if err := resolveFrom(cluster.LocationOfOrigin, GetClusterFileReferences(cluster)); err != nil {
			return err
		}
	}
	for _, user := range config.AuthInfos {
		if err := resolveFrom(user.LocationOfOrigin, GetAuthInfoFileReferences(user)); err != nil {
			return err
		}
	}
	return nil
}

// RelativizeClusterLocalPaths makes a cluster's paths relative to the folder of the cluster's file,
// if they are below that folder.
func RelativizeClusterLocalPaths(cluster *clientcmdapi.Cluster) error {
	return relativizeTo(cluster.LocationOfOrigin, GetClusterFileReferences(cluster))
}

// RelativizeAuthInfoLocalPaths makes a user's paths relative to the folder of the user's file, if
// they are below that folder.
func RelativizeAuthInfoLocalPaths(authInfo *clientcmdapi.AuthInfo) error {
	return relativizeTo(authInfo.LocationOfOrigin, GetAuthInfoFileReferences(authInfo))
}

func resolveFrom(origin string, refs []*string) error {
	base, err := folder(origin)
	if err != nil || base == "" {
		return err
	}
	return ResolvePaths(refs, base)
}

func relativizeTo(origin string, refs []*string) error {
	base, err := folder(origin)
	if err != nil {
		return err
	}
	if base == "" {
		return fmt.Errorf("no location of origin")
	}
	if err := ResolvePaths(refs, base); err != nil {
		return err
	}
	return RelativizePathWithNoBacksteps(refs, base)
}

// folder returns the absolute path of a file's folder, or "" for "".
func folder(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	base, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return "", fmt.Errorf("could not determine the absolute path of config file %s: %w", file, err)
	}
	return base, nil
}
