#!/usr/bin/env bash
# etcd with the flags that envtest gives: those of the real command are translated to those of cmd/etcd, which lies
# beside this file as etcd-member. Flags without a counterpart there are what cmd/etcd does anyway.
set -euo pipefail
args=()
for flag in "$@"; do
	case $flag in
	--advertise-client-urls=* | --unsafe-no-fsync*) ;;
	--listen-client-urls=*) args+=("-client=${flag#*=}") ;;
	--listen-peer-urls=*) args+=("-peer=${flag#*=}") ;;
	--data-dir=*) args+=("-data-dir=${flag#*=}") ;;
	*)
		echo "etcd: $flag is not known to this stand-in" >&2
		exit 2
		;;
	esac
done
exec "$(dirname "$(readlink -f "$0")")/etcd-member" "${args[@]}"
