import type { HttpRouteMatchSpec } from '#api/http-route.ts'
import { toByteText } from '#base/byte-text.ts'
import { isFieldValue } from '#net/http/field-syntax.ts'
import { intersectHostname, normaliseHostname, reportAddress } from '../context/hostname.ts'
import type { Report } from '../context/reporting.ts'
import type { Listener } from '../gateways/listener.ts'
import type { AttachedRoute } from './attach-route.ts'
import type { RouteObject } from './route-object.ts'

// Parts of routes that are valid, and that no request can match.

/** Reports values of matches that no request has, and matches that an earlier one for the same header replaces. @param path of the rule */
export function reportImpossibleMatches(
  matches: readonly Pick<HttpRouteMatchSpec, 'path' | 'headers'>[],
  path: string,
  report: Report,
): void {
  for (const [index, { path: wanted, headers = [] }] of matches.entries()) {
    const at = `${path}.matches[${index}]`
    if (wanted?.type === 'RegularExpression' && BEGINS_WITH_LETTER.test(wanted.value))
      warn(`${at}.path.value`, 'no request matches: the pattern has to match the whole path, which begins with a slash')
    for (const [place, { name, type, value }] of headers.entries()) {
      const first = headers.findIndex((other) => other.name.toLowerCase() === name.toLowerCase())
      if (first < place) {
        const message = `has no effect: headers[${first}] has the same name, and only the first of them applies`
        report({ path: `${at}.headers[${place}]`, code: 'no-effect', message, severity: 'warning' })
      } else if (type !== 'RegularExpression' && (value !== value.trim() || !isFieldValue(toByteText(value))))
        warn(`${at}.headers[${place}].value`, 'no request matches: no header has this value')
    }
  }

  function warn(at: string, message: string): void {
    report({ path: at, code: 'match-impossible', message, severity: 'warning' })
  }
}

/** A pattern without alternatives that begins with a letter or digit, which is not optional. */
const BEGINS_WITH_LETTER = /^\^?[A-Za-z0-9](?![*?{])[^|]*$/

/** Reports the hostnames of a route that are addresses, and those that none of its listeners serves, while they serve others. */
export function reportUnservedHostnames({ object, listeners }: AttachedRoute, report: Report): void {
  for (const [index, hostname] of hostnamesOf(object).entries()) {
    reportAddress(hostname, `spec.hostnames[${index}]`, report)
    if (listeners.length === 0) continue
    const serves = ({ hostname: served }: Listener) =>
      intersectHostname(served, normaliseHostname(hostname)) !== undefined
    if (listeners.some(serves)) continue
    const served = [...new Set(listeners.map((listener) => listener.hostname))].join(', ')
    const message = `no listener of the route serves this hostname; they serve ${served}`
    report({ path: `spec.hostnames[${index}]`, code: 'hostname-not-served', message, severity: 'warning' })
  }
}

function hostnamesOf(route: RouteObject): readonly string[] {
  return route.kind === 'TCPRoute' ? [] : (route.spec.hostnames ?? [])
}
