package v1

//lint:file-ignore ST1003 the names are client-go's
//lint:file-ignore SA1019 preferences are kept, though nothing reads them

import (
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/client-go/tools/clientcmd/api"
)

// Convert_v1_AuthInfo_To_api_AuthInfo converts a user.
func Convert_v1_AuthInfo_To_api_AuthInfo(in *AuthInfo, out *api.AuthInfo, s conversion.Scope) error {
	out.ClientCertificate, out.ClientCertificateData = in.ClientCertificate, in.ClientCertificateData
	out.ClientKey, out.ClientKeyData = in.ClientKey, in.ClientKeyData
	out.Token, out.TokenFile = in.Token, in.TokenFile
	out.Impersonate, out.ImpersonateUID = in.Impersonate, in.ImpersonateUID
	out.ImpersonateGroups, out.ImpersonateUserExtra = in.ImpersonateGroups, in.ImpersonateUserExtra
	out.Username, out.Password = in.Username, in.Password
	out.AuthProvider, out.Exec = nil, nil
	if in.AuthProvider != nil {
		out.AuthProvider = &api.AuthProviderConfig{Name: in.AuthProvider.Name, Config: in.AuthProvider.Config}
	}
	if in.Exec != nil {
		out.Exec = &api.ExecConfig{}
		if err := Convert_v1_ExecConfig_To_api_ExecConfig(in.Exec, out.Exec, s); err != nil {
			return err
		}
	}
	return extensionsToMap(in.Extensions, &out.Extensions)
}

// Convert_api_AuthInfo_To_v1_AuthInfo converts a user.
func Convert_api_AuthInfo_To_v1_AuthInfo(in *api.AuthInfo, out *AuthInfo, s conversion.Scope) error {
	out.ClientCertificate, out.ClientCertificateData = in.ClientCertificate, in.ClientCertificateData
	out.ClientKey, out.ClientKeyData = in.ClientKey, in.ClientKeyData
	out.Token, out.TokenFile = in.Token, in.TokenFile
	out.Impersonate, out.ImpersonateUID = in.Impersonate, in.ImpersonateUID
	out.ImpersonateGroups, out.ImpersonateUserExtra = in.ImpersonateGroups, in.ImpersonateUserExtra
	out.Username, out.Password = in.Username, in.Password
	out.AuthProvider, out.Exec = nil, nil
	if in.AuthProvider != nil {
		out.AuthProvider = &AuthProviderConfig{Name: in.AuthProvider.Name, Config: in.AuthProvider.Config}
	}
	if in.Exec != nil {
		out.Exec = &ExecConfig{}
		if err := Convert_api_ExecConfig_To_v1_ExecConfig(in.Exec, out.Exec, s); err != nil {
			return err
		}
	}
	return extensionsToSlice(in.Extensions, &out.Extensions)
}

// Convert_v1_AuthProviderConfig_To_api_AuthProviderConfig converts the name and configuration of a
// plugin.
func Convert_v1_AuthProviderConfig_To_api_AuthProviderConfig(in *AuthProviderConfig, out *api.AuthProviderConfig, _ conversion.Scope) error {
	out.Name, out.Config = in.Name, in.Config
	return nil
}

// Convert_api_AuthProviderConfig_To_v1_AuthProviderConfig converts the name and configuration of a
// plugin.
func Convert_api_AuthProviderConfig_To_v1_AuthProviderConfig(in *api.AuthProviderConfig, out *AuthProviderConfig, _ conversion.Scope) error {
	out.Name, out.Config = in.Name, in.Config
	return nil
}

// Convert_v1_ExecConfig_To_api_ExecConfig converts a command.
func Convert_v1_ExecConfig_To_api_ExecConfig(in *ExecConfig, out *api.ExecConfig, _ conversion.Scope) error {
	out.Command, out.Args, out.Env = in.Command, in.Args, nil
	for _, variable := range in.Env {
		out.Env = append(out.Env, api.ExecEnvVar(variable))
	}
	out.APIVersion, out.InstallHint, out.ProvideClusterInfo = in.APIVersion, in.InstallHint, in.ProvideClusterInfo
	out.InteractiveMode = api.ExecInteractiveMode(in.InteractiveMode)
	return nil
}

// Convert_api_ExecConfig_To_v1_ExecConfig converts a command. It omits the fields that a file does
// not have: standard input, policy, and the cluster's configuration for the command.
func Convert_api_ExecConfig_To_v1_ExecConfig(in *api.ExecConfig, out *ExecConfig, _ conversion.Scope) error {
	out.Command, out.Args, out.Env = in.Command, in.Args, nil
	for _, variable := range in.Env {
		out.Env = append(out.Env, ExecEnvVar(variable))
	}
	out.APIVersion, out.InstallHint, out.ProvideClusterInfo = in.APIVersion, in.InstallHint, in.ProvideClusterInfo
	out.InteractiveMode = ExecInteractiveMode(in.InteractiveMode)
	return nil
}

// Convert_v1_ExecEnvVar_To_api_ExecEnvVar converts a variable.
func Convert_v1_ExecEnvVar_To_api_ExecEnvVar(in *ExecEnvVar, out *api.ExecEnvVar, _ conversion.Scope) error {
	*out = api.ExecEnvVar(*in)
	return nil
}

// Convert_api_ExecEnvVar_To_v1_ExecEnvVar converts a variable.
func Convert_api_ExecEnvVar_To_v1_ExecEnvVar(in *api.ExecEnvVar, out *ExecEnvVar, _ conversion.Scope) error {
	*out = ExecEnvVar(*in)
	return nil
}
