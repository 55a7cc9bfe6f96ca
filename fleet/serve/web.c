// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A small web server by libmicrohttpd.
#define _GNU_SOURCE
#include "web.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#ifdef TEEPERF_HAS_MICROHTTPD

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
	CROWDED = TP_WEB_CONNECTIONS * 3 / 4,
	IDLE_S = 30,
	REQUEST_S = 20,
	ANSWER_S = 300,
	STACK = 1 << 20
};

// Prototypes are those of the header, so that a wrong one is an error of the compiler.
struct library {
	void *handle;
	__typeof__(&MHD_start_daemon) start_daemon;
	__typeof__(&MHD_stop_daemon) stop_daemon;
	__typeof__(&MHD_get_connection_info) get_connection_info;
	__typeof__(&MHD_get_connection_values) get_connection_values;
	__typeof__(&MHD_create_response_from_buffer) create_response_from_buffer;
	__typeof__(&MHD_add_response_header) add_response_header;
	__typeof__(&MHD_queue_response) queue_response;
	__typeof__(&MHD_destroy_response) destroy_response;
};

enum phase { READS, ANSWERS, WRITES };

struct connection {
	struct connection *next;
	struct tp_web *web;
	int socket;
	enum phase phase;
	time_t since; // of the phase
};

struct tp_web {
	struct library library;
	struct tp_web_options options;
	struct MHD_Daemon *daemon;
	int socket;
	bool loopback;
	bool any; // listens at all addresses
	uint16_t port;
	char url[320];
	pthread_mutex_t lock; // of `connections`
	struct connection *connections;
};

static bool find(const struct library *library, const char *name, void *function)
{
	// POSIX has pointers to functions in void pointers; C does not convert them.
	void *symbol = dlsym(library->handle, name);
	memcpy(function, &symbol, sizeof(symbol));
	return symbol != NULL;
}

static int load(struct library *library, struct tp_err *err)
{
	// The interface of Debian 12, and that of version 1.
	static const char *const names[] = {"libmicrohttpd.so.12", "libmicrohttpd.so.13"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !library->handle; i++)
		library->handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (library->handle && find(library, "MHD_start_daemon", &library->start_daemon) &&
	    find(library, "MHD_stop_daemon", &library->stop_daemon) &&
	    find(library, "MHD_get_connection_info", &library->get_connection_info) &&
	    find(library, "MHD_get_connection_values", &library->get_connection_values) &&
	    find(library, "MHD_create_response_from_buffer",
		&library->create_response_from_buffer) &&
	    find(library, "MHD_add_response_header", &library->add_response_header) &&
	    find(library, "MHD_queue_response", &library->queue_response) &&
	    find(library, "MHD_destroy_response", &library->destroy_response))
		return 0;
	return tp_err_set(err, TP_ERR_NOT_FOUND, NULL,
	    "cannot find libmicrohttpd.so.12: install Debian's package libmicrohttpd12");
}

static time_t now_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

// ---- who is meant

// Whether TEXT of SIZE bytes is an address, no name: [::1] or 127.0.0.1.
static bool is_address(const char *text, size_t size)
{
	char copy[64];
	struct in6_addr six;
	struct in_addr four;
	if (size >= sizeof(copy) || !size)
		return false;
	const bool brackets = text[0] == '[' && text[size - 1] == ']';
	memcpy(copy, text + brackets, size - 2 * brackets);
	copy[size - 2 * brackets] = '\0';
	return inet_pton(brackets ? AF_INET6 : AF_INET, copy,
		   brackets ? (void *)&six : (void *)&four) == 1;
}

static bool is_same(const char *text, size_t size, const char *name)
{
	return name && strlen(name) == size && strncasecmp(text, name, size) == 0;
}

// Whether a request for HOST (of its header) is for this server.
static bool is_host(const struct tp_web *web, const char *host)
{
	const char *end = host[0] == '[' ? strchr(host, ']') : host;
	const char *colon = end ? strchr(end, ':') : NULL;
	const size_t size = colon ? (size_t)(colon - host) : strlen(host);
	char port[8];
	snprintf(port, sizeof(port), "%u", web->port);
	if (!end || (colon ? strcmp(colon + 1, port) != 0 : web->port != 80))
		return false;
	if (web->loopback && (is_same(host, size, "localhost") ||
				 is_same(host, size, "127.0.0.1") || is_same(host, size, "[::1]")))
		return true;
	// No name leads here but through somebody who says so; an address is none.
	if (web->any && is_address(host, size))
		return true;
	const char *own = web->options.host;
	const bool six = strchr(own, ':') != NULL;
	if (!six ? is_same(host, size, own)
		 : size == strlen(own) + 2 && is_same(host + 1, size - 2, own))
		return true;
	for (uint32_t i = 0; i < web->options.name_count; i++)
		if (is_same(host, size, web->options.names[i]))
			return true;
	return false;
}

// ---- a request

struct taking {
	struct tp_web_argument *arguments;
	uint32_t count;
	uint32_t hosts;
	const char *host;
	const char *site; // who has asked the browser for it
};

static enum MHD_Result take_header(
    void *context, enum MHD_ValueKind kind, const char *key, const char *value)
{
	struct taking *taking = context;
	(void)kind;
	if (strcasecmp(key, "Host") == 0) {
		taking->hosts++;
		taking->host = value;
	}
	if (strcasecmp(key, "Sec-Fetch-Site") == 0)
		taking->site = value;
	return MHD_YES;
}

static enum MHD_Result take_argument(
    void *context, enum MHD_ValueKind kind, const char *key, const char *value)
{
	struct taking *taking = context;
	(void)kind;
	if (taking->count < TP_WEB_ARGUMENTS_MAX && taking->arguments)
		taking->arguments[taking->count] =
		    (struct tp_web_argument){key, value ? value : ""};
	taking->count++;
	return taking->count <= TP_WEB_ARGUMENTS_MAX ? MHD_YES : MHD_NO;
}

static void refuse(struct tp_web_answer *answer, uint32_t status, const char *why)
{
	answer->status = status;
	answer->type = "text/plain; charset=utf-8";
	answer->fixed = why;
}

static void answer_it(struct tp_web *web, struct MHD_Connection *connection, const char *url,
    const char *method, struct tp_web_answer *answer)
{
	struct taking taking = {0};
	web->library.get_connection_values(connection, MHD_HEADER_KIND, take_header, &taking);
	if (strcmp(method, "GET") != 0) {
		refuse(answer, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET is served\n");
		return;
	}
	if (taking.hosts != 1 || !taking.host || !is_host(web, taking.host)) {
		refuse(answer, 421,
		    "this server does not have the requested host name: --host adds names\n");
		return;
	}
	if (taking.site && strcmp(taking.site, "same-origin") != 0 &&
	    strcmp(taking.site, "none") != 0 && strncmp(url, "/api/", 5) == 0) {
		refuse(answer, MHD_HTTP_FORBIDDEN, "request from another site\n");
		return;
	}
	taking.arguments = calloc(TP_WEB_ARGUMENTS_MAX, sizeof(*taking.arguments));
	if (taking.arguments)
		web->library.get_connection_values(
		    connection, MHD_GET_ARGUMENT_KIND, take_argument, &taking);
	if (!taking.arguments)
		refuse(answer, MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory\n");
	else if (taking.count > TP_WEB_ARGUMENTS_MAX)
		refuse(answer, MHD_HTTP_URI_TOO_LONG, "more than 4096 arguments\n");
	else
		web->options.answer(web->options.context,
		    &(struct tp_web_request){url, taking.arguments, taking.count}, answer);
	free(taking.arguments);
}

static enum MHD_Result send_it(
    struct tp_web *web, struct MHD_Connection *connection, struct tp_web_answer *answer)
{
	static const char *const headers[][2] = {
	    {"Content-Security-Policy",
		"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
		"img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
		"require-trusted-types-for 'script'; trusted-types 'none'"},
	    {"X-Content-Type-Options", "nosniff"},
	    {"X-Frame-Options", "DENY"},
	    {"Referrer-Policy", "no-referrer"},
	    {"Cross-Origin-Resource-Policy", "same-origin"},
	    {"Cross-Origin-Opener-Policy", "same-origin"},
	    {"Cache-Control", "no-store"},
	    {"Connection", "close"},
	};
	struct MHD_Response *response;
	if (answer->body.failed && !answer->fixed)
		refuse(answer, MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory\n");
	if (answer->fixed || !answer->body.capacity) {
		const char *text = answer->fixed ? answer->fixed : "";
		// The library changes no bytes of a response that stays.
		response = web->library.create_response_from_buffer(
		    strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_PERSISTENT);
		tp_buf_release(&answer->body);
	} else {
		response = web->library.create_response_from_buffer(
		    answer->body.size, answer->body.data, MHD_RESPMEM_MUST_FREE);
		if (!response)
			tp_buf_release(&answer->body);
	}
	if (!response)
		return MHD_NO;
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		web->library.add_response_header(response, headers[i][0], headers[i][1]);
	web->library.add_response_header(response, "Content-Type", answer->type);
	if (answer->status == MHD_HTTP_METHOD_NOT_ALLOWED)
		web->library.add_response_header(response, "Allow", "GET");
	const enum MHD_Result result =
	    web->library.queue_response(connection, answer->status, response);
	web->library.destroy_response(response);
	return result;
}

static void enter(struct tp_web *web, struct MHD_Connection *connection, enum phase phase)
{
	const union MHD_ConnectionInfo *info =
	    web->library.get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct connection *it = info ? info->socket_context : NULL;
	pthread_mutex_lock(&web->lock);
	if (it) {
		it->phase = phase;
		it->since = now_s();
	}
	pthread_mutex_unlock(&web->lock);
}

// A NUL ends texts and would hide the characters after it.
static char has_nul;
static char has_many; // arguments

static void *see_address(void *context, const char *address, struct MHD_Connection *connection)
{
	static const char answer[] =
	    "HTTP/1.1 414 URI Too Long\r\nContent-Type: text/plain; charset=utf-8\r\n"
	    "Connection: close\r\n\r\nmore than 4096 arguments\n";
	const struct tp_web *web = context;
	uint32_t count = 0;
	for (const char *c = strchr(address, '?'); c && *c; c++)
		count += *c == '&';
	if (count >= TP_WEB_ARGUMENTS_MAX) {
		// The library would have no memory for them, and close without an answer.
		const union MHD_ConnectionInfo *info =
		    web->library.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
		if (info && send(info->connect_fd, answer, sizeof(answer) - 1,
				MSG_NOSIGNAL | MSG_DONTWAIT) > 0)
			shutdown(info->connect_fd, SHUT_WR);
		return &has_many;
	}
	return strstr(address, "%00") ? &has_nul : NULL;
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url,
    const char *method, const char *version, const char *upload, size_t *upload_size, void **state)
{
	struct tp_web *web = context;
	struct tp_web_answer answer = {.status = 200, .type = "application/json"};
	(void)version;
	(void)upload;
	(void)upload_size;
	tp_buf_init(&answer.body);
	if (*state == &has_many)
		return MHD_NO; // it was answered
	enter(web, connection, ANSWERS);
	if (*state == &has_nul)
		refuse(&answer, MHD_HTTP_BAD_REQUEST, "%00 in an address\n");
	else
		answer_it(web, connection, url, method, &answer);
	enter(web, connection, WRITES);
	return send_it(web, connection, &answer);
}

// ---- connections

// The library turns away who comes when all places are taken. So that those who send nothing do not
// keep them, the one that has been silent for longest goes when most are.
static void make_room(struct tp_web *web)
{
	const struct connection *oldest = NULL;
	uint32_t count = 0;
	for (const struct connection *it = web->connections; it; it = it->next) {
		count++;
		if (it->phase == READS)
			oldest = it;
	}
	if (count > CROWDED && oldest)
		shutdown(oldest->socket, SHUT_RDWR);
}

static void on_connection(void *context, struct MHD_Connection *connection, void **socket_context,
    enum MHD_ConnectionNotificationCode what)
{
	struct tp_web *web = context;
	struct connection *it;
	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		const union MHD_ConnectionInfo *info =
		    web->library.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
		it = calloc(1, sizeof(*it));
		*socket_context = it;
		if (!it || !info) {
			// Without memory to watch it there is none to serve it.
			if (info)
				shutdown(info->connect_fd, SHUT_RDWR);
			free(it);
			*socket_context = NULL;
			return;
		}
		*it = (struct connection){.web = web, .socket = info->connect_fd, .since = now_s()};
		pthread_mutex_lock(&web->lock);
		it->next = web->connections;
		web->connections = it;
		make_room(web);
		pthread_mutex_unlock(&web->lock);
		return;
	}
	// The socket is closed behind this, so nobody else has its number yet.
	it = *socket_context;
	*socket_context = NULL;
	pthread_mutex_lock(&web->lock);
	for (struct connection **at = &web->connections; it && *at; at = &(*at)->next)
		if (*at == it) {
			*at = it->next;
			break;
		}
	pthread_mutex_unlock(&web->lock);
	free(it);
}

void tp_web_tend(struct tp_web *web)
{
	const uint32_t request_s = web->options.request_s ? web->options.request_s : REQUEST_S;
	const uint32_t answer_s = web->options.answer_s ? web->options.answer_s : ANSWER_S;
	const time_t now = now_s();
	pthread_mutex_lock(&web->lock);
	for (struct connection *it = web->connections; it; it = it->next)
		if ((it->phase == READS && now - it->since >= (time_t)request_s) ||
		    (it->phase == WRITES && now - it->since >= (time_t)answer_s))
			shutdown(it->socket, SHUT_RDWR);
	pthread_mutex_unlock(&web->lock);
}

// ---- start and stop

static void note_place(struct tp_web *web, const struct sockaddr_storage *address)
{
	const struct sockaddr_in *four = (const void *)address;
	const struct sockaddr_in6 *six = (const void *)address;
	const char *host = web->options.host;
	const bool colons = strchr(host, ':') != NULL;
	if (address->ss_family == AF_INET6) {
		web->port = ntohs(six->sin6_port);
		web->loopback = IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
		web->any = IN6_IS_ADDR_UNSPECIFIED(&six->sin6_addr);
	} else {
		web->port = ntohs(four->sin_port);
		web->loopback = ntohl(four->sin_addr.s_addr) >> 24 == 127;
		web->any = four->sin_addr.s_addr == 0;
	}
	snprintf(web->url, sizeof(web->url), "http://%s%s%s:%u/", colons ? "[" : "", host,
	    colons ? "]" : "", web->port);
}

static int listen_at(struct tp_web *web, struct tp_err *err)
{
	const struct addrinfo hints = {
	    .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
	struct addrinfo *found = NULL;
	struct sockaddr_storage address;
	socklen_t size = sizeof(address);
	char port[8];
	const char *host = web->options.host;
	snprintf(port, sizeof(port), "%u", web->options.port);
	const int failed = getaddrinfo(host, port, &hints, &found);
	if (failed)
		return tp_err_set(err, TP_ERR_NOT_FOUND, NULL, "cannot listen at '%s': %s", host,
		    gai_strerror(failed));
	web->socket = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	const int one = 1;
	int code = 0;
	if (web->socket < 0 ||
	    setsockopt(web->socket, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(web->socket, found->ai_addr, found->ai_addrlen) || listen(web->socket, 32) ||
	    getsockname(web->socket, (struct sockaddr *)&address, &size))
		code =
		    tp_err_system(err, errno, NULL, "cannot listen at '%s', port %s", host, port);
	else
		note_place(web, &address);
	freeaddrinfo(found);
	return code;
}

int tp_web_start(struct tp_web **out, const struct tp_web_options *options, struct tp_err *err)
{
	struct tp_web *web = calloc(1, sizeof(*web));
	*out = web;
	if (!web)
		return tp_err_memory(err, NULL);
	web->options = *options;
	web->socket = -1;
	pthread_mutex_init(&web->lock, NULL);
	int code = load(&web->library, err);
	if (!code)
		code = listen_at(web, err);
	if (code)
		return code;
	// Signals are for the thread that waits for them.
	sigset_t all;
	sigset_t before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	web->daemon = web->library.start_daemon(
	    MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL, 0, NULL,
	    NULL, on_request, web, MHD_OPTION_LISTEN_SOCKET, web->socket,
	    MHD_OPTION_CONNECTION_LIMIT, (unsigned int)TP_WEB_CONNECTIONS,
	    MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)IDLE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
	    (size_t)TP_WEB_REQUEST_MAX, MHD_OPTION_THREAD_STACK_SIZE, (size_t)STACK,
	    MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_NOTIFY_CONNECTION, on_connection, web,
	    MHD_OPTION_URI_LOG_CALLBACK, see_address, web, MHD_OPTION_END);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return web->daemon ? 0
			   : tp_err_set(err, TP_ERR_SYSTEM, NULL, "libmicrohttpd does not start");
}

const char *tp_web_url(const struct tp_web *web)
{
	return web->url;
}

bool tp_web_is_open(const struct tp_web *web)
{
	return !web->loopback;
}

void tp_web_stop(struct tp_web *web)
{
	if (!web)
		return;
	if (web->daemon)
		web->library.stop_daemon(web->daemon); // closes the socket as well
	else if (web->socket >= 0)
		close(web->socket);
	pthread_mutex_destroy(&web->lock);
	// The library stays: its threads may be ending.
	free(web);
}

#else

int tp_web_start(struct tp_web **web, const struct tp_web_options *options, struct tp_err *err)
{
	(void)options;
	*web = NULL;
	return tp_err_set(err, TP_ERR_NOT_FOUND, NULL,
	    "this program was built without libmicrohttpd: build it with Debian's "
	    "libmicrohttpd-dev");
}

const char *tp_web_url(const struct tp_web *web)
{
	(void)web;
	return "";
}

bool tp_web_is_open(const struct tp_web *web)
{
	(void)web;
	return false;
}

void tp_web_tend(struct tp_web *web)
{
	(void)web;
}

void tp_web_stop(struct tp_web *web)
{
	(void)web;
}

#endif
