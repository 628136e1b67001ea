import { expect, test } from 'vitest'
import { negotiate } from './negotiate.ts'

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io'

test.each([
  [undefined, 'json', 'object'],
  ['*/*', 'json', 'object'],
  ['application/yaml', 'yaml', 'object'],
  ['application/yaml;q=0.5, application/json;q=0.9', 'json', 'object'],
  ['application/vnd.kubernetes.protobuf, application/json', 'json', 'object'],
  [`${TABLE},application/json`, 'json', 'Table'],
  ['application/json;as=Table;v=v1;g=other.example,application/json', 'json', 'object'],
  ['application/json;as=Table;v=v2;g=meta.k8s.io,application/json', 'json', 'object'],
  ['application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io', 'json', 'PartialObjectMetadata'],
  ['text/html, */*;q=0.1', 'json', 'object'],
])('%s', (accept, encoding, as) => {
  expect(negotiate(accept)).toEqual({ encoding, as })
})

test.each(['application/vnd.kubernetes.protobuf', 'text/html', 'application/json;q=0'])('%s is refused', (accept) => {
  expect(() => negotiate(accept)).toThrow('only the following media types are accepted')
})
