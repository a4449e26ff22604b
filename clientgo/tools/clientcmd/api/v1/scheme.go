package v1

//lint:file-ignore ST1003 the names are client-go's
//lint:file-ignore SA1019 preferences are kept, though nothing reads them

import (
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// SchemeGroupVersion is the group and version of the types in a scheme.
var SchemeGroupVersion = schema.GroupVersion{Group: "", Version: "v1"}

var (
	// SchemeBuilder adds Config, with its defaults and conversions, to a scheme.
	SchemeBuilder = runtime.NewSchemeBuilder(addKnownTypes, RegisterDefaults, RegisterConversions)

	// AddToScheme adds Config, with its defaults and conversions, to a scheme.
	AddToScheme = SchemeBuilder.AddToScheme
)

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(SchemeGroupVersion, &Config{})
	return nil
}

// RegisterDefaults adds the defaults of Config to a scheme.
func RegisterDefaults(scheme *runtime.Scheme) error {
	scheme.AddTypeDefaultingFunc(&Config{}, func(o any) { SetObjectDefaults_Config(o.(*Config)) })
	return nil
}

// SetObjectDefaults_Config sets the defaults of a config.
func SetObjectDefaults_Config(in *Config) {
	for i := range in.AuthInfos {
		if exec := in.AuthInfos[i].AuthInfo.Exec; exec != nil {
			SetDefaults_ExecConfig(exec)
		}
	}
}

// SetDefaults_ExecConfig sets an empty interactive mode, unless the version of ExecCredential
// requires a value.
func SetDefaults_ExecConfig(exec *ExecConfig) {
	if exec.InteractiveMode != "" {
		return
	}
	switch exec.APIVersion {
	case "client.authentication.k8s.io/v1beta1", "client.authentication.k8s.io/v1alpha1":
		exec.InteractiveMode = IfAvailableExecInteractiveMode
	}
}

// RegisterConversions adds conversions to a scheme. They convert between the types of this package
// and the types of package api.
func RegisterConversions(s *runtime.Scheme) error {
	for _, err := range []error{
		register(s, Convert_v1_Config_To_api_Config),
		register(s, Convert_api_Config_To_v1_Config),
		register(s, Convert_v1_Preferences_To_api_Preferences),
		register(s, Convert_api_Preferences_To_v1_Preferences),
		register(s, Convert_v1_Cluster_To_api_Cluster),
		register(s, Convert_api_Cluster_To_v1_Cluster),
		register(s, Convert_v1_Context_To_api_Context),
		register(s, Convert_api_Context_To_v1_Context),
		register(s, Convert_v1_AuthInfo_To_api_AuthInfo),
		register(s, Convert_api_AuthInfo_To_v1_AuthInfo),
		register(s, Convert_v1_AuthProviderConfig_To_api_AuthProviderConfig),
		register(s, Convert_api_AuthProviderConfig_To_v1_AuthProviderConfig),
		register(s, Convert_v1_ExecConfig_To_api_ExecConfig),
		register(s, Convert_api_ExecConfig_To_v1_ExecConfig),
		register(s, Convert_v1_ExecEnvVar_To_api_ExecEnvVar),
		register(s, Convert_api_ExecEnvVar_To_v1_ExecEnvVar),
		register(s, Convert_Slice_v1_NamedCluster_To_Map_string_To_Pointer_api_Cluster),
		register(s, Convert_Map_string_To_Pointer_api_Cluster_To_Slice_v1_NamedCluster),
		register(s, Convert_Slice_v1_NamedContext_To_Map_string_To_Pointer_api_Context),
		register(s, Convert_Map_string_To_Pointer_api_Context_To_Slice_v1_NamedContext),
		register(s, Convert_Slice_v1_NamedAuthInfo_To_Map_string_To_Pointer_api_AuthInfo),
		register(s, Convert_Map_string_To_Pointer_api_AuthInfo_To_Slice_v1_NamedAuthInfo),
		register(s, Convert_Slice_v1_NamedExtension_To_Map_string_To_runtime_Object),
		register(s, Convert_Map_string_To_runtime_Object_To_Slice_v1_NamedExtension),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

func register[A, B any](s *runtime.Scheme, convert func(*A, *B, conversion.Scope) error) error {
	return s.AddConversionFunc((*A)(nil), (*B)(nil), func(a, b any, scope conversion.Scope) error {
		return convert(a.(*A), b.(*B), scope)
	})
}
