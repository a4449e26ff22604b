package portforward

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
)

// ForwardedPort is a local port with its remote port.
type ForwardedPort struct {
	// Local is the local port to listen on. 0 means any free port; listening replaces 0 by its
	// number.
	Local uint16
	// Remote is the port in the pod. It is never 0.
	Remote uint16
}

// parsePorts parses "LOCAL:REMOTE", "PORT" for equal ports, and ":REMOTE" for any free local port.
func parsePorts(ports []string) ([]ForwardedPort, error) {
	if len(ports) == 0 {
		return nil, errors.New("you must specify at least 1 port")
	}
	forwarded := make([]ForwardedPort, 0, len(ports))
	for _, port := range ports {
		local, remote, both := strings.Cut(port, ":")
		if strings.Contains(remote, ":") {
			return nil, fmt.Errorf("invalid port format '%s'", port)
		}
		if !both {
			remote = local
		}
		if local == "" && both {
			local = "0"
		}
		l, err := strconv.ParseUint(local, 10, 16)
		if err != nil {
			return nil, fmt.Errorf("error parsing local port '%s': %w", local, err)
		}
		r, err := strconv.ParseUint(remote, 10, 16)
		if err != nil {
			return nil, fmt.Errorf("error parsing remote port '%s': %w", remote, err)
		}
		if r == 0 {
			return nil, errors.New("remote port must be > 0")
		}
		forwarded = append(forwarded, ForwardedPort{Local: uint16(l), Remote: uint16(r)})
	}
	return forwarded, nil
}

// address is a local address to listen on.
type address struct {
	ip      string
	network string
	// optional means that the program need not listen on this address, if it listens on another
	// optional address. localhost is two optional addresses, because a machine may support only one
	// address family.
	optional bool
}

// parseAddresses parses IP addresses and "localhost". The result is sorted by text, without
// duplicates.
func parseAddresses(addresses []string) ([]address, error) {
	if len(addresses) == 0 {
		return nil, errors.New("you must specify at least 1 address")
	}
	var parsed []address
	for _, text := range addresses {
		if text == "localhost" {
			parsed = append(parsed, address{ip: "127.0.0.1", network: "tcp4", optional: true}, address{ip: "::1", network: "tcp6", optional: true})
			continue
		}
		ip := net.ParseIP(text)
		switch {
		case ip == nil:
			return nil, fmt.Errorf("%s is not a valid IP", text)
		case ip.To4() != nil:
			parsed = append(parsed, address{ip: text, network: "tcp4"})
		default:
			parsed = append(parsed, address{ip: text, network: "tcp6"})
		}
	}
	// Of two equal addresses, the required address sorts before the optional address, and Compact
	// keeps it.
	slices.SortStableFunc(parsed, func(a, b address) int {
		if by := cmp.Compare(a.ip, b.ip); by != 0 || a.optional == b.optional {
			return by
		}
		if a.optional {
			return 1
		}
		return -1
	})
	return slices.CompactFunc(parsed, func(a, b address) bool { return a.ip == b.ip }), nil
}
