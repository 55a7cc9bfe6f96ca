// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Posts to a server by libcurl.
#define _GNU_SOURCE
#include "http.h"

#include "common/clean.h"
#include "common/read_all.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SECRET_MAX = 4096, LONGEST_WAIT_MS = 30000, FIRST_WAIT_MS = 500 };

#ifdef TEEPERF_HAS_CURL

#include <curl/curl.h>

enum {
	CONNECT_S = 10, // to wait for a connection
	ANSWER_S = 300, // ... and for all of an answer
	ANSWER_MAX = 256 << 20,
};

// Prototypes are those of the header, so that a wrong one is an error of the compiler.
struct tp_http_library {
	void *handle;
	__typeof__(&curl_easy_init) init;
	__typeof__(&(curl_easy_setopt)) setopt;
	__typeof__(&curl_easy_perform) perform;
	__typeof__(&(curl_easy_getinfo)) getinfo;
	__typeof__(&curl_easy_strerror) strerror;
	__typeof__(&curl_easy_cleanup) cleanup;
	__typeof__(&curl_slist_append) append;
	__typeof__(&curl_slist_free_all) free_all;
};

static bool find(const struct tp_http_library *library, const char *name, void *function)
{
	// POSIX has pointers to functions in void pointers; C does not convert them.
	void *symbol = dlsym(library->handle, name);
	memcpy(function, &symbol, sizeof(symbol));
	return symbol != NULL;
}

static struct tp_http_library *load(struct tp_err *err)
{
	static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
	struct tp_http_library *library = calloc(1, sizeof(*library));
	if (!library) {
		tp_err_memory(err, NULL);
		return NULL;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !library->handle; i++)
		library->handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (library->handle && find(library, "curl_easy_init", &library->init) &&
	    find(library, "curl_easy_setopt", &library->setopt) &&
	    find(library, "curl_easy_perform", &library->perform) &&
	    find(library, "curl_easy_getinfo", &library->getinfo) &&
	    find(library, "curl_easy_strerror", &library->strerror) &&
	    find(library, "curl_easy_cleanup", &library->cleanup) &&
	    find(library, "curl_slist_append", &library->append) &&
	    find(library, "curl_slist_free_all", &library->free_all))
		return library;
	tp_err_set(err, TP_ERR_NOT_FOUND, NULL,
	    "cannot find libcurl.so.4: install Debian's package libcurl4");
	if (library->handle)
		dlclose(library->handle);
	free(library);
	return NULL;
}

static size_t take(char *data, size_t size, size_t count, void *context)
{
	struct tp_buf *answer = context;
	if (answer->size + size * count > ANSWER_MAX)
		return 0;
	tp_buf_add(answer, data, size * count);
	return answer->failed ? 0 : size * count;
}

int tp_http_open(struct tp_http *http, const struct tp_http_server *server, struct tp_err *err)
{
	*http = (struct tp_http){.library = load(err)};
	if (!http->library)
		return err ? err->code : TP_ERR_NOT_FOUND;
	http->url = strdup(server->url);
	http->curl = http->library->init();
	if (!http->url || !http->curl)
		return tp_err_memory(err, server->url);
	// Without this libcurl waits a second for servers that do not say that they will read.
	void *headers = http->library->append(NULL, "Expect:");
	http->headers = headers;
	for (uint32_t i = 0; headers && server->headers && server->headers[i]; i++) {
		headers = http->library->append(http->headers, server->headers[i]);
		http->headers = headers ? headers : http->headers;
	}
	if (!headers)
		return tp_err_memory(err, server->url);
	CURL *curl = http->curl;
	http->library->setopt(curl, CURLOPT_URL, server->url);
	http->library->setopt(curl, CURLOPT_HTTPHEADER, http->headers);
	http->library->setopt(curl, CURLOPT_POST, 1L);
	http->library->setopt(curl, CURLOPT_NOSIGNAL, 1L);
	http->library->setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S);
	http->library->setopt(curl, CURLOPT_TIMEOUT, (long)ANSWER_S);
	http->library->setopt(curl, CURLOPT_WRITEFUNCTION, take);
	if (server->ca_file)
		http->library->setopt(curl, CURLOPT_CAINFO, server->ca_file);
	return 0;
}

void tp_http_close(struct tp_http *http)
{
	if (http->curl)
		http->library->cleanup(http->curl);
	if (http->headers)
		http->library->free_all(http->headers);
	// The library stays: those that it uses do not all bear to be unloaded.
	free(http->library);
	free(http->url);
	*http = (struct tp_http){0};
}

// Whether it may be otherwise the next time.
static bool may_pass(CURLcode code)
{
	return code != CURLE_URL_MALFORMAT && code != CURLE_UNSUPPORTED_PROTOCOL &&
	       code != CURLE_PEER_FAILED_VERIFICATION && code != CURLE_SSL_CACERT_BADFILE &&
	       code != CURLE_SSL_CONNECT_ERROR && code != CURLE_NOT_BUILT_IN;
}

int tp_http_post(struct tp_http *http, const struct tp_buf *body, struct tp_buf *answer,
    long *status, struct tp_err *err)
{
	char message[CURL_ERROR_SIZE] = "";
	CURL *curl = http->curl;
	*status = 0;
	http->library->setopt(curl, CURLOPT_ERRORBUFFER, message);
	http->library->setopt(curl, CURLOPT_POSTFIELDS, body->data);
	http->library->setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body->size);
	http->library->setopt(curl, CURLOPT_WRITEDATA, answer);
	const CURLcode code = http->library->perform(curl);
	http->library->setopt(curl, CURLOPT_ERRORBUFFER, NULL);
	if (code == CURLE_OUT_OF_MEMORY || answer->failed)
		return tp_err_memory(err, http->url);
	if (code != CURLE_OK)
		return tp_err_set(err, may_pass(code) ? TP_ERR_SYSTEM : TP_ERR_FORMAT, http->url,
		    "%s", *message ? message : http->library->strerror(code));
	http->library->getinfo(curl, CURLINFO_RESPONSE_CODE, status);
	return 0;
}

#else

int tp_http_open(struct tp_http *http, const struct tp_http_server *server, struct tp_err *err)
{
	*http = (struct tp_http){0};
	return tp_err_set(err, TP_ERR_NOT_FOUND, server->url,
	    "this program was built without libcurl: build it with Debian's libcurl4-openssl-dev");
}

void tp_http_close(struct tp_http *http)
{
	(void)http;
}

int tp_http_post(struct tp_http *http, const struct tp_buf *body, struct tp_buf *answer,
    long *status, struct tp_err *err)
{
	(void)http;
	(void)body;
	(void)answer;
	*status = 0;
	return tp_err_set(err, TP_ERR_NOT_FOUND, NULL, "no libcurl");
}

#endif

// ---- requests that are made again

void tp_http_first_line(char *out, size_t size, const struct tp_buf *answer)
{
	size_t at = 0;
	for (size_t i = 0; i < answer->size && at + 1 < size && answer->data[i] != '\n'; i++)
		out[at++] = answer->data[i] ? answer->data[i] : '?';
	out[at] = '\0';
	tp_clean(out, at);
}

// Whether a server that says so may take the same request later.
static bool may_become(long status)
{
	return status >= 500 || status == 408 || status == 429;
}

int tp_http_send(struct tp_http *http, const struct tp_buf *body, struct tp_buf *answer,
    struct tp_http_tries *tries, struct tp_err *err)
{
	uint64_t wait_ms = FIRST_WAIT_MS;
	for (uint32_t i = 0;; i++) {
		long status;
		tp_buf_reset(answer);
		int code = tp_http_post(http, body, answer, &status, err);
		tries->requests++;
		tries->repeated += i > 0;
		if (!code && status == 200)
			return 0;
		const bool again = code ? code == TP_ERR_SYSTEM : may_become(status);
		if (!code)
			code = tries->refused(tries->context, status, answer, err);
		if (!again || i == tries->retries)
			return code;
		if (tries->retry)
			tries->retry(tries->context, err, (double)wait_ms / 1000);
		const struct timespec time = {
		    .tv_sec = (time_t)(wait_ms / 1000),
		    .tv_nsec = (long)(wait_ms % 1000) * 1000000,
		};
		nanosleep(&time, NULL);
		wait_ms = 2 * wait_ms < LONGEST_WAIT_MS ? 2 * wait_ms : LONGEST_WAIT_MS;
	}
}

// ---- secrets

int tp_http_secret_read(
    struct tp_buf *secret, const char *path, const char *what, struct tp_err *err)
{
	struct tp_buf text;
	tp_buf_init(&text);
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	int code = fd < 0 ? tp_err_system(err, errno, path, "cannot read %s", what) : 0;
	if (!code)
		code = tp_read_all(&text, fd, path, what, SECRET_MAX, err);
	if (fd >= 0)
		close(fd);
	if (text.size)
		text.data[strcspn(text.data, "\r\n")] = '\0';
	for (const char *c = text.data; !code && *c; c++)
		if (iscntrl((unsigned char)*c))
			code = tp_err_set(
			    err, TP_ERR_SYNTAX, path, "%s has a control character", what);
	tp_buf_add_string(secret, text.data);
	tp_http_secret_release(&text);
	if (!code && secret->failed)
		code = tp_err_memory(err, path);
	return code;
}

void tp_http_secret_release(struct tp_buf *secret)
{
	if (secret->size)
		explicit_bzero(secret->data, secret->size);
	tp_buf_release(secret);
}
