import { expect, test } from 'vitest'
import { Head } from '#net/http/head.ts'
import { exchangeWith } from '../testing.ts'
import { receivedValues } from './received-field.ts'

test('received values stay readable after changes', () => {
  const { request } = exchangeWith({ headers: { 'X-Key': ['1', '2'], 'x-kex': '3' } })
  request.remove('x-key')
  request.set('x-key', '4')
  request.append('x-new', '5')
  expect(receivedValues(request, 'x-key')).toEqual(['1', '2'])
  expect(receivedValues(request, 'x-new')).toEqual([])
})

test('_ and - are equivalent in names (decision A-134)', () => {
  const { request } = exchangeWith({ headers: { 'X-Api-Key': '1', x_API_key: '2', 'x-api.key': '3' } })
  expect(receivedValues(request, 'x-api-key')).toEqual(['1', '2'])
  expect(receivedValues(request, 'x_api_key')).toEqual(['1', '2'])
})

test('a head made by the gateway has its current values', () => {
  const head = Head.request('GET', '/')
  head.set('x-key', '1')
  expect(receivedValues(head, 'x-key')).toEqual(['1'])
})
