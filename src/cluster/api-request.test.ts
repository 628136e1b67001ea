import { expect, test } from 'vitest'
import { describeRequest } from './api-request.ts'

const ROUTES = '/apis/gateway.networking.k8s.io/v1/namespaces/shop/httproutes'

test.each([
  ['GET', '/api/v1/pods?limit=500', 'list', 'pods'],
  ['GET', '/api/v1/namespaces/shop/pods?watch=true&resourceVersion=1', 'watch', 'pods'],
  ['GET', '/api/v1/namespaces', 'list', 'namespaces'],
  ['GET', '/api/v1/namespaces/shop', 'get', 'namespaces'],
  ['GET', `${ROUTES}/watch`, 'get', 'httproutes'],
  ['PUT', `${ROUTES}/checkout/status`, 'update', 'httproutes/status'],
  ['PATCH', `${ROUTES}/checkout?fieldManager=gatewright`, 'patch', 'httproutes'],
  ['POST', '/apis/authentication.k8s.io/v1/tokenreviews', 'create', 'tokenreviews'],
  ['DELETE', `${ROUTES}/checkout`, 'delete', 'httproutes'],
])('%s %s', (method, path, verb, resource) => {
  expect(describeRequest(method, path)).toEqual({ verb, resource })
})
