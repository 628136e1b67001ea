import { STATUS_CODES } from 'node:http'
import { expect, test } from 'vitest'
import { reasonPhrase } from './reason-phrase.ts'

/** Differences from Node: statuses that the gateway never sends, and those that RFC 9110 renamed. */
const OTHERWISE: Readonly<Record<string, string>> = {
  102: '',
  305: '',
  413: 'Content Too Large',
  418: '',
  422: 'Unprocessable Content',
  509: '',
  510: '',
}

test.each(Object.entries({ ...STATUS_CODES, 299: '', ...OTHERWISE }))('the phrase of %s is %j', (status, phrase) => {
  expect(reasonPhrase(Number(status))).toBe(phrase)
})
