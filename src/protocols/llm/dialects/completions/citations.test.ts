import { expect, test } from 'vitest'
import { Annotations } from './citations.ts'

const URL = { url: 'https://a.example', title: 'A', text: undefined, start: undefined, end: undefined }

test('positions are those in the whole content', () => {
  const annotations = new Annotations(undefined)
  annotations.text('one ')
  annotations.add(URL)
  annotations.text('two ')
  const whole = { url: 'https://a.example', title: 'A', start_index: 0, end_index: 8 }
  expect(annotations.take()).toEqual([{ type: 'url_citation', url_citation: whole }])
  annotations.text('three')
  annotations.add({ ...URL, start: 1, end: 3 })
  const part = { url: 'https://a.example', title: 'A', start_index: 9, end_index: 11 }
  expect(annotations.take()).toEqual([{ type: 'url_citation', url_citation: part }])
  expect(annotations.take()).toEqual([])
})

test('a citation without a URL has no form, and their number is bounded', () => {
  const annotations = new Annotations(undefined)
  annotations.add({ ...URL, url: undefined })
  expect(annotations.take()).toEqual([])
  for (let count = 0; count < 2000; count++) annotations.add(URL)
  expect(annotations.take()).toHaveLength(1000)
})
