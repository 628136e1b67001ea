import type { IdpAnswer } from './idp-call.ts'
import { oneLine } from './one-line.ts'

/** A member of a JSON object; undefined for every other value. */
export function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined
}

/** The members with which providers describe errors; others may have secrets. */
const TEXTS = ['error', 'error_description', 'errorMessage']

/** `status 409: User exists with same username`, always one line. */
export function describeAnswer({ status, location, json }: IdpAnswer): string {
  const texts = TEXTS.map((name) => memberOf(json, name)).filter((text) => typeof text === 'string' && text !== '')
  const redirect = location === undefined ? [] : [`a redirect to ${location}`]
  return oneLine([`status ${status}`, ...redirect, ...texts].join(': '))
}
