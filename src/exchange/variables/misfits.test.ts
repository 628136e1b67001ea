import { expect, test } from 'vitest'
import { compileExpression } from '../compile-expression.ts'

/** What lint says, without positions. */
function warningsOf(source: string): readonly string[] {
  const problems: string[] = []
  compileExpression(source, 'request', ({ severity, code, message }) =>
    problems.push(`${severity} ${code} ${message.replace(/ \(column[\s\S]*/, '')}`),
  )
  return problems
}

test.each([
  ['request.path == "admin"', 'request.path is never "admin": it begins with a slash; did you mean "/admin"?'],
  ['"admin" != request.path', 'request.path is never "admin": it begins with a slash; did you mean "/admin"?'],
  ['request.path in ["/a", "b"]', 'request.path is never "b": it begins with a slash; did you mean "/b"?'],
  [
    'request.path.startsWith("admin/")',
    'request.path never begins with "admin/": it begins with a slash; did you mean "/admin/"?',
  ],
  ['request.path == "/a//b"', 'request.path is never "/a//b": it is in normalized form; did you mean "/a/b"?'],
  [
    'request.path == "/a?b"',
    'request.path is never "/a?b": it has no query; write request.pathAndQuery for a path with its query',
  ],
  [
    '[1].exists(x, request.pathAndQuery == "a?b")',
    'request.pathAndQuery is never "a?b": it begins with a slash; did you mean "/a?b"?',
  ],
  [
    'request.method == "delete"',
    'request.method is never "delete": methods are case-sensitive, and clients send upper case; did you mean "DELETE"?',
  ],
  [
    'default(request.host, "") == "Admin.test"',
    'request.host is never "Admin.test": it is in lower case, without a default port or a dot at the end; did you mean "admin.test"?',
  ],
  [
    'request.host == "a.test:443"',
    'request.host is never "a.test:443": it is in lower case, without a default port or a dot at the end; did you mean "a.test"?',
  ],
  [
    'request.host == "*.a.test"',
    'request.host is never "*.a.test": it has no wildcards; write request.host.endsWith(".example.com")',
  ],
  ['request.scheme == "HTTPS"', 'request.scheme is never "HTTPS": it is in lower case; did you mean "https"?'],
  [
    'source.address == "10.0.0.0/8"',
    'source.address is never "10.0.0.0/8": it is one address, not a network; write cidr("10.0.0.0/8").containsIP(source.address)',
  ],
  ['source.rawAddress != "localhost"', 'source.rawAddress is never "localhost": it is an IP address'],
])('%s never matches', (source, message) => {
  expect(warningsOf(source)).toEqual([`warning cel-never-equal ${message}`])
})

test.each([
  'request.path == "/admin" || request.path.startsWith("/a//") || request.path in ["/", "*", ""]',
  'request.pathAndQuery == "/a?b=c"',
  'request.path.endsWith("admin") || request.path.contains("admin")',
  'request.method in ["GET", "PROPFIND", "purge"]',
  'default(request.host, "") in ["admin.test", "admin.test:8080", "[::1]"] || default(request.host, "") == ""',
  'source.address == "10.1.2.3" || source.address == "2001:db8::1" || source.address.startsWith("10.")',
  'request.headers["x-path"] == "admin"',
])('%s can match', (source) => {
  expect(warningsOf(source)).toEqual([])
})
