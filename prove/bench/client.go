package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httputil"
	"strconv"
	"time"
)

// answerWithin is the timeout of a request.
const answerWithin = 30 * time.Second

// quietFor is how long a connection may be quiet before it is replaced. Servers close a
// connection whose next request does not come in time, the first one within 5 s.
const quietFor = 2 * time.Second

// target is a server under load and the token that its clients send.
type target struct{ address, token string }

// conn is a keep-alive connection for one goroutine. The clients share the cores with the
// servers, so conn implements only the part of HTTP/1.1 that these servers use, at a
// fraction of the cost of net/http's client.
type conn struct {
	net.Conn
	used time.Time // when the last request was sent; when it was dialled if there is none
	head []byte    // the protocol, host and token, which all requests have in common
	in   *bufio.Reader
	out  []byte
	body bytes.Buffer
}

// dial opens connections, one for each client.
func (t target) dial(count int) (conns []*conn, hangUp func(), err error) {
	hangUp = func() {
		for _, c := range conns {
			c.Close()
		}
	}
	for range count {
		c, err := net.Dial("tcp", t.address)
		if err != nil {
			hangUp()
			return nil, nil, err
		}
		conns = append(conns, &conn{
			Conn: c, used: time.Now(), in: bufio.NewReaderSize(c, 8<<10),
			head: fmt.Appendf(nil, " HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n", t.address, t.token),
		})
	}
	return conns, hangUp, nil
}

// do sends a request and returns the response. The body is valid until the next
// request.
func (c *conn) do(method, path string, body []byte) (status int, answer []byte, err error) {
	c.out = append(append(append(c.out[:0], method...), ' '), path...)
	c.out = append(c.out, c.head...)
	if body != nil {
		c.out = append(c.out, "Content-Type: application/json\r\nContent-Length: "...)
		c.out = append(strconv.AppendInt(c.out, int64(len(body)), 10), "\r\n"...)
	}
	c.out = append(append(c.out, "\r\n"...), body...)
	now := time.Now()
	if now.Sub(c.used) > quietFor {
		if err := c.dialAgain(); err != nil {
			return 0, nil, err
		}
	}
	c.used = now
	if err := c.SetDeadline(now.Add(answerWithin)); err != nil {
		return 0, nil, err
	}
	if _, err := c.Write(c.out); err != nil {
		return 0, nil, err
	}
	status, answer, err = c.receive()
	if err != nil {
		err = fmt.Errorf("%s %s: %w", method, path, err)
	}
	return status, answer, err
}

// dialAgain replaces the connection.
func (c *conn) dialAgain() error {
	another, err := net.Dial("tcp", c.RemoteAddr().String())
	if err != nil {
		return err
	}
	c.Close() //nolint:errcheck // nothing is written to it
	c.Conn = another
	c.in.Reset(another)
	return nil
}

// want sends a request and returns an error if the response has another status.
func (c *conn) want(status int, method, path string, body []byte) ([]byte, error) {
	got, answer, err := c.do(method, path, body)
	if err == nil && got != status {
		err = fmt.Errorf("%s %s: status %d, want %d: %.300s", method, path, got, status, answer)
	}
	return answer, err
}

func (c *conn) receive() (status int, body []byte, err error) {
	line, err := c.in.ReadSlice('\n')
	if err != nil {
		return 0, nil, err
	}
	if len(line) < len("HTTP/1.1 200") {
		return 0, nil, errors.New("not a status line")
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, nil, err
	}
	length, chunked := int64(0), false
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return 0, nil, err
		}
		name, value, found := bytes.Cut(bytes.TrimSpace(line), []byte(": "))
		if !found {
			break
		}
		switch string(name) {
		case "Content-Length":
			if length, err = strconv.ParseInt(string(value), 10, 64); err != nil {
				return 0, nil, err
			}
		case "Transfer-Encoding":
			chunked = true
		}
	}
	c.body.Reset()
	if chunked {
		if _, err := c.body.ReadFrom(httputil.NewChunkedReader(c.in)); err != nil {
			return 0, nil, err
		}
		_, err = c.in.Discard(len("\r\n")) // the empty trailer section
	} else {
		_, err = io.CopyN(&c.body, c.in, length)
	}
	return status, c.body.Bytes(), err
}
