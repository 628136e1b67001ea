import { expect, test } from 'vitest'
import { acceptedFormat } from './accepted-format.ts'

const OPEN = 'application/openmetrics-text'

test.each([
  [undefined, 'classic'],
  ['', 'classic'],
  ['*/*', 'classic'],
  ['text/plain', 'classic'],
  [OPEN, 'openmetrics'],
  [`${OPEN.toUpperCase()} ; Version="1.0.0"`, 'openmetrics'],
  [`${OPEN};version=0.0.1`, 'classic'],
  [`${OPEN};version=2.0.0, ${OPEN}`, 'openmetrics'],
  [`${OPEN};q=0`, 'classic'],
  [`${OPEN};q=x`, 'classic'],
  [`text/plain, ${OPEN}`, 'openmetrics'],
  [`text/plain, ${OPEN};q=1`, 'openmetrics'],
  [`text/plain;q=0.6, ${OPEN};q=0.5`, 'classic'],
  [`*/*;q=0.6, text/plain;q=0.2, ${OPEN};q=0.5`, 'openmetrics'],
  [`*/*;q=0.6, ${OPEN};q=0.5`, 'classic'],
  [`text/*;q=0.4, */*, ${OPEN};q=0.5`, 'openmetrics'],
  // Prometheus 2.42, and 3.
  [`${OPEN};version=1.0.0,${OPEN};version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1`, 'openmetrics'],
  [
    `${OPEN};version=1.0.0;escaping=allow-utf-8;q=0.5,${OPEN};version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,*/*;q=0.2`,
    'openmetrics',
  ],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'classic'],
] as const)('%s: %s', (accept, format) => {
  expect(acceptedFormat(accept)).toBe(format)
})
