package contract

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"netsim/fault"
	"netsim/internal/testwait"
)

const uploadForm = "/api/v1/tracesets?workspaceId=workspace_01kahcfv4ge3brkm7f0v3x2m8p"

// formRequest returns a request with a form as its body.
func formRequest(body io.Reader) *http.Request {
	r := httptest.NewRequest(http.MethodPost, uploadForm, body)
	r.Header.Set("Content-Type", "multipart/form-data; boundary=end")
	return r
}

func lines(all ...string) string { return strings.Join(all, "\r\n") + "\r\n" }

// A form reaches its handler unchanged, while the client is still sending it.
func TestFormsAreCheckedWhileTheyArrive(t *testing.T) {
	t.Parallel()
	body, send := io.Pipe()
	r := formRequest(body)
	asked := make(chan struct{})
	fail := func(_ http.ResponseWriter, _ *http.Request, err error) { t.Error(err) }
	handler := loaded(t).Check(fail)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		form, err := r.MultipartReader()
		if err != nil {
			t.Error(err)
			return
		}
		close(asked)
		part, err := form.NextPart()
		if err != nil {
			t.Error(err)
			return
		}
		begin := make([]byte, 5)
		if _, err := io.ReadFull(part, begin); err != nil || string(begin) != "begin" || part.FileName() != "a.0.et" || part.Header.Get("Content-Type") != "text/x" {
			t.Errorf("got %q of %v, %v; want the begin of a.0.et", begin, part.Header, err)
		}
		if _, err := io.WriteString(send, lines("ning", "--end", `Content-Disposition: form-data; name="ttlDays"`, "", "0", "--end--")); err != nil {
			t.Error(err)
		}
		// The file ends where the next part begins. The next part is refused.
		rest, err := io.ReadAll(part)
		if refused, ok := errors.AsType[*fault.Fault](err); !ok || refused.Message != "ttlDays must be between 1 and 365, got 0" || string(rest) != "ning" {
			t.Errorf("got %q, %v; want ning and the refusal of ttlDays", rest, err)
		}
	}))
	go func() {
		testwait.Gate(t, asked) // nothing is read before the handler asks for it
		_, _ = io.WriteString(send, "--end\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.0.et\"\r\nContent-Type: text/x\r\n\r\nbegin")
	}()
	handler.ServeHTTP(httptest.NewRecorder(), r)
}

// A handler may read all, some or none of the form.
func TestFormsNeedNotBeRead(t *testing.T) {
	t.Parallel()
	text := lines("--end", `Content-Disposition: form-data; name="file"; filename="a"`, "", strings.Repeat("x", 1<<20), "--end--")
	for _, read := range []int64{0, 1, 100} {
		fail := func(_ http.ResponseWriter, _ *http.Request, err error) { t.Error(err) }
		loaded(t).Check(fail)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if _, err := io.CopyN(io.Discard, r.Body, read); err != nil {
				t.Error(err)
			}
		})).ServeHTTP(httptest.NewRecorder(), formRequest(strings.NewReader(text)))
	}
}

func TestFormsThatAreTooLarge(t *testing.T) {
	t.Parallel()
	large := lines("--end", `Content-Disposition: form-data; name="description"`, "", strings.Repeat("x", maxField+1), "--end--")
	cut := lines("--end", `Content-Disposition: form-data; name="file"; filename="a"`, "", strings.Repeat("x", 100), "--end--")
	for what, r := range map[string]*http.Request{
		"description is larger than 1048576 bytes": formRequest(strings.NewReader(large)),
		"the request body is larger than 99 bytes": formRequest(http.MaxBytesReader(nil, io.NopCloser(strings.NewReader(cut)), 99)),
	} {
		fail := func(_ http.ResponseWriter, _ *http.Request, err error) { t.Error(err) }
		loaded(t).Check(fail)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			form, err := r.MultipartReader()
			for err == nil {
				var part *multipart.Part
				if part, err = form.NextPart(); err == nil {
					_, err = io.Copy(io.Discard, part)
				}
			}
			if refused, ok := errors.AsType[*fault.Fault](err); !ok || refused.Code != fault.PayloadTooLarge || refused.Message != what {
				t.Errorf("got %v, want %q", err, what)
			}
		})).ServeHTTP(httptest.NewRecorder(), r)
	}
}
