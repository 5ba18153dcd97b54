package objects

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/smithy-go/encoding/httpbinding"
)

// direct puts objects with a request of its own, which costs half the CPU time and memory of
// a call of the SDK: a run stores 15 small files. It has one try and knows success only.
// Whatever else happens, the caller makes the SDK's call, which has the retries, corrects
// clocks and makes the errors that others read.
type direct struct {
	base        *url.URL // of the bucket; nil if only the SDK can address it
	region      string
	client      *http.Client
	credentials aws.CredentialsProvider
	signer      *v4.Signer
	observe     func(operation string, took time.Duration, err error)

	rests atomic.Int64 // until when, in Unix nanoseconds, the SDK makes all calls
}

// directRest is how long the SDK makes all calls after a direct one has failed. So a store
// that takes the SDK's calls only, or none, sees few others.
const directRest = time.Minute

func newDirect(c Config, keys aws.CredentialsProvider, transport http.RoundTripper) *direct {
	d := &direct{
		region: c.Region, credentials: keys, observe: c.Observe,
		signer: v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true }), // as for S3
		client: &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // a redirected PUT could become a GET, which succeeds
		}},
	}
	if base, err := url.Parse(c.Endpoint); err == nil && base.Host != "" && base.RawQuery == "" && !strings.Contains(c.Bucket, ":") {
		base.Path, base.RawPath = strings.TrimSuffix(base.Path, "/")+"/"+c.Bucket, strings.TrimSuffix(base.EscapedPath(), "/")+"/"+httpbinding.EscapePath(c.Bucket, false)
		d.base = base
	}
	return d
}

// put puts an object of a size and a SHA-256 in hex, and reports whether the store has it. If
// not, it may have it all the same.
func (d *direct) put(ctx context.Context, key, contentType, sum string, content func() io.Reader, size int) bool {
	if d.base == nil || time.Now().UnixNano() < d.rests.Load() {
		return false
	}
	began := time.Now()
	if err := d.try(ctx, key, contentType, sum, content, size, began); err != nil {
		if ctx.Err() == nil {
			d.rests.Store(time.Now().Add(directRest).UnixNano())
		}
		return false
	}
	if d.observe != nil {
		d.observe("PutObject", time.Since(began), nil)
	}
	return true
}

func (d *direct) try(ctx context.Context, key, contentType, sum string, content func() io.Reader, size int, now time.Time) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPut, "", nil)
	if err != nil {
		return err
	}
	if size > 0 { // a body of length 0 would be one of unknown length
		request.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(content()), nil } // if an idle connection was closed
		request.Body, _ = request.GetBody()
	}
	to := *d.base
	to.Path, to.RawPath = d.base.Path+"/"+key, d.base.EscapedPath()+"/"+httpbinding.EscapePath(key, false)
	request.URL, request.Host, request.ContentLength = &to, to.Host, int64(size)
	request.Header.Set("Content-Type", contentType)
	request.Header.Set("X-Amz-Content-Sha256", sum)
	keys, err := d.credentials.Retrieve(ctx)
	if err != nil {
		return err
	}
	if err := d.signer.SignHTTP(ctx, keys, request, sum, "s3", d.region, now); err != nil {
		return err
	}
	answer, err := d.client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()                                   //nolint:errcheck // it is only read
	if _, err := io.Copy(io.Discard, answer.Body); err != nil { // so that the connection is used again
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the store answers %s", answer.Status)
	}
	return nil
}
