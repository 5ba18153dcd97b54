package doctor

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"netsim/fault"
	"netsim/infra/objects"
)

// Objects is the object store.
type Objects struct {
	Endpoint
	Store  *objects.Store
	Bucket string
}

const probeText = "netsim doctor"

// Checks returns the checks of the object store. They store a file below the folder
// doctor, and delete it.
func (o Objects) Checks() []Check {
	key := "doctor/" + strings.ToLower(rand.Text())
	checks := []Check{
		{o.Component, "reachable", true, o.reachable},
		{o.Component, "read and write", false, func(ctx context.Context) Result { return o.readWrite(ctx, key) }},
		{o.Component, "multipart upload", false, func(ctx context.Context) Result { return o.multipart(ctx, key+"-parts") }},
		{o.Component, "signed link", false, func(ctx context.Context) Result { return o.link(ctx, key+"-link") }},
		{o.Component, "protection", false, o.protection},
		o.Clock(),
	}
	return append(checks, o.Certificate()...)
}

func (o Objects) reachable(ctx context.Context) Result {
	err := o.Store.Ping(ctx)
	code, refused := objects.Refused(err)
	switch {
	case err == nil:
		return Good("bucket %q at %s answers", o.Bucket, o.URL)
	case fault.Is(err, fault.NotFound):
		return Failure("correct NETSIM_S3_BUCKET, or let a start of the service create it", "there is no bucket %q at %s", o.Bucket, o.URL)
	case refused:
		return Failure("correct NETSIM_S3_ACCESS_KEY and NETSIM_S3_SECRET_KEY, and the key's rights to the bucket; a clock that is wrong is refused, too", "bucket %q at %s refuses the access key: %s", o.Bucket, o.URL, code)
	}
	return Failure("start the object store, or correct NETSIM_S3_ENDPOINT", "no answer from %s: %v", o.URL, err)
}

// deleted deletes the probe object, also after the check's context has ended.
func (o Objects) deleted(ctx context.Context, key string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return o.Store.Delete(ctx, key)
}

func (o Objects) readWrite(ctx context.Context, key string) (result Result) {
	defer func() {
		if err := o.deleted(ctx, key); err != nil && result.Status == OK {
			result = o.refused("delete", err)
		}
	}()
	if _, err := o.Store.Put(ctx, key, "text/plain", strings.NewReader(probeText)); err != nil {
		return o.refused("put", err)
	}
	body, _, err := o.Store.Get(ctx, key)
	if err != nil {
		return o.refused("get", err)
	}
	defer body.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(body)
	if err != nil || string(text) != probeText {
		return Failure("look at the object store's log", "a file has other content than what was stored: %v", err)
	}
	for info, err := range o.Store.List(ctx, key) {
		if err != nil {
			return o.refused("list", err)
		}
		if info.Key == key {
			return Good("a file was stored, read, listed and deleted")
		}
	}
	return Failure("use a store whose lists have every file that was stored before", "a stored file is not in the list of files")
}

func (o Objects) refused(operation string, err error) Result {
	if code, refused := objects.Refused(err); refused {
		return Failure("give the access key the right to "+operation+" files in the bucket, and make room if the disk is full", "%s: %s", operation, code)
	}
	return Failure("look at the object store's log", "%s: %v", operation, err)
}

func (o Objects) multipart(ctx context.Context, key string) (result Result) {
	id, err := o.Store.BeginParts(ctx, key, "text/plain")
	if err != nil {
		return o.refused("begin a multipart upload of", err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if err := o.Store.DropParts(ctx, key, id); err != nil && result.Status == OK {
			result = o.refused("abort a multipart upload of", err)
		}
	}()
	link, err := o.Store.PresignPart(ctx, key, id, 1, time.Minute)
	if err != nil {
		return Failure("look at the settings of the object store", "sign a link: %v", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPut, link.URL, strings.NewReader(probeText))
	if err != nil {
		return Failure("look at the settings of the object store", "sign a link: %v", err)
	}
	response, err := o.client().Do(request)
	if err != nil {
		return Failure("look at the object store's log", "upload a part: %v", withoutLink(err))
	}
	response.Body.Close() //nolint:errcheck // it is not read
	if response.StatusCode != http.StatusOK {
		return Failure("give the access key the right to put files in the bucket", "upload a part by a signed link: status %d", response.StatusCode)
	}
	return Good("an upload was begun, got a part and was aborted")
}

func (o Objects) link(ctx context.Context, key string) Result {
	defer o.deleted(ctx, key) //nolint:errcheck // another check reports it
	if _, err := o.Store.Put(ctx, key, "text/plain", strings.NewReader(probeText)); err != nil {
		return o.refused("put", err)
	}
	link, err := o.Store.PresignGet(ctx, key, "doctor.txt", "text/plain", time.Minute)
	if err != nil {
		return Failure("look at the settings of the object store", "sign a link: %v", err)
	}
	status, text, err := o.get(ctx, link.URL, nil)
	switch {
	case err != nil:
		return Failure("look at the object store's log", "follow a signed link: %v", withoutLink(err))
	case status != http.StatusOK || string(text) != probeText:
		return Failure("check NETSIM_S3_REGION, the key's rights, and that no router changes the requests", "a signed link is refused with status %d", status)
	}
	return Good("a link works on this machine; clients need to reach %s, too", o.URL)
}

// withoutLink returns the reason of a failed request. Its URL would be a secret.
func withoutLink(err error) error {
	for cause := err; cause != nil; cause = errors.Unwrap(cause) {
		err = cause
	}
	return err
}

func (o Objects) protection(ctx context.Context) Result {
	p, err := o.Store.Protection(ctx)
	switch {
	case err != nil:
		return Good("versioning and lifecycle rules cannot be read (%v); no rule must delete files of this bucket", shortReason(err))
	case len(p.Expiring) > 0:
		return Failure("remove the rules: the service deletes what it no longer needs, and needs all else",
			"lifecycle rules delete files: %s", strings.Join(p.Expiring, ", "))
	case !p.Versioned:
		return Warning("enable versioning or replicate the bucket: its files cannot be rebuilt from the log", "versioning is off")
	}
	return Good("versioning is on, and no rule deletes files")
}

func shortReason(err error) string {
	if code, refused := objects.Refused(err); refused {
		return code
	}
	return fmt.Sprint(withoutLink(err))
}
