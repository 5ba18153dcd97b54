package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"syscall"
)

// Ports are chosen below the ephemeral range (from 32768 by default). A client
// that redials an ephemeral port while its server is down can get the same port
// as its source, connect to itself, and keep the server from binding it.
const firstPort, lastPort = 15000, 31999

// attempts is how many random ports are tried.
const attempts = 20

// address resolves a --listen value: a loopback host and a port. Port 0 becomes a
// free port, which another process can still take before the server binds it. Any
// other port is not checked.
func address(listen string) (string, error) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "", fmt.Errorf("--listen %s: %w", listen, err)
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return "", fmt.Errorf("--listen %s: only a loopback address is allowed", listen)
	}
	if port != "0" {
		return listen, nil
	}
	for range attempts {
		addr := net.JoinHostPort(host, strconv.Itoa(firstPort+rand.IntN(lastPort-firstPort)))
		if checkFree(addr) == nil {
			return addr, nil
		}
	}
	return "", errors.New("no free port found")
}

// checkFree returns an error when another program listens on addr.
func checkFree(addr string) error {
	l, err := net.Listen("tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("address %s is in use by another program", addr)
	}
	if err != nil {
		return err
	}
	return l.Close()
}

// portOf returns the port of a host:port.
func portOf(addr string) int {
	_, port, _ := net.SplitHostPort(addr)
	n, _ := strconv.Atoi(port)
	return n
}
