package compile

import "golang.org/x/sys/unix"

// adopted is a compiler process that was started ahead of us (c/base/early.c), and the socket to it.
type adopted struct{ fd, pid int }

// Adopt takes over a compiler process and the socket to it. It is used if none is running when one is needed.
func (c *Client) Adopt(fd, pid int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.proc != nil || c.starting != nil || c.early != nil || c.closed || len(c.cfg.Command) == 0 {
		unix.Close(fd) // by which it ends
		return
	}
	c.early = &adopted{fd, pid}
}

// take gives the process away; no conn if there is none.
func (a *adopted) take() (pid int, c *conn, err error) {
	if a == nil {
		return 0, nil, nil
	}
	c, err = newConn(a.fd)
	return a.pid, c, err
}
