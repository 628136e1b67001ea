import { expect, test } from 'vitest'
import { proxyImage } from './proxy-image.ts'

const DEFAULTS = { registry: 'ghcr.io', repository: 'gatewright/gatewright', tag: '1.2.3' }

test.each([
  [{}, DEFAULTS],
  [{ GATEWRIGHT_PROXY_IMAGE_REGISTRY: '' }, { ...DEFAULTS, registry: '' }],
  [{ GATEWRIGHT_PROXY_IMAGE_REGISTRY: 'r.example.com' }, { ...DEFAULTS, registry: 'r.example.com' }],
  [
    { GATEWRIGHT_PROXY_IMAGE_REPOSITORY: 'a/b', GATEWRIGHT_PROXY_IMAGE_TAG: '' },
    { ...DEFAULTS, repository: 'a/b' },
  ],
])('with %j the image of proxies is %j', (environment, image) => {
  expect(proxyImage(environment, DEFAULTS)).toEqual(image)
})
