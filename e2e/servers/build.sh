#!/usr/bin/env bash
# Builds the command ./cmd/$1 with the flags that follow, and says each minute how far
# it is: a build of Kubernetes that says nothing for half an hour looks as if it hung.
set -euo pipefail
name=$1
shift
go=${GO:-go}

echo "$name: downloading modules, if they are not in the cache"
total=$("$go" list -deps "./cmd/$name" | wc -l)
echo "$name: compiling up to $total packages, those apart that are in Go's build cache"

# With -v, go has a line for each package when it begins to compile it. Whatever else
# it says is an error, and shown.
SECONDS=0
"$go" build -v "$@" "./cmd/$name" 2>&1 | {
	done=0 said=0
	while true; do
		line=
		if read -r -t 60 line; then
			case $line in
			*[[:space:]:]*) echo "$line" ;;
			*) done=$((done + 1)) ;;
			esac
		elif [ $? -le 128 ]; then
			break # the end, and not the end of the minute
		fi
		if [ $((SECONDS / 60)) -gt "$said" ]; then
			said=$((SECONDS / 60))
			echo "$name: $done of at most $total packages after $said min"
		fi
	done
	[ -z "$line" ] || echo "$line"
	echo "$name: compiled $done packages in $((SECONDS / 60)) min $((SECONDS % 60)) s"
}
