import { integer, openObject, optional, text } from '#schema/index.ts'
import { platformKind } from './object.ts'

const subject = () =>
  openObject({
    apiVersion: optional(text(), 'API version of the object.'),
    kind: optional(text(), 'Kind of the object.'),
    namespace: optional(text(), 'Namespace of the object.'),
    name: optional(text(), 'Name of the object.'),
    uid: optional(text(), 'Unique id of the object.'),
    resourceVersion: optional(text(), 'Version of the object.'),
    fieldPath: optional(text(), 'Part of the object.'),
  })

const source = openObject({
  component: optional(text(), 'Component that reported the event.'),
  host: optional(text(), 'Node of the component.'),
})

const series = openObject({
  count: optional(integer(), 'Number of occurrences in the series.'),
  lastObservedTime: optional(text(), 'Time of the last occurrence.'),
})

const common = {
  eventTime: optional(text(), 'Time of the first occurrence, with microseconds.'),
  series: optional(series, 'The series that the event belongs to.'),
  action: optional(text(), 'What was done, or failed.'),
  reason: optional(text(), 'Why, in one word for programs.'),
  type: optional(text(), 'Normal or Warning.'),
  reportingInstance: optional(text(), 'Instance of the component that reported the event.'),
}

/** What happened to an object (Kubernetes, core/v1). */
export const coreEvent = platformKind('Event', {
  ...common,
  involvedObject: optional(subject(), 'The object.'),
  related: optional(subject(), 'Another object that takes part.'),
  message: optional(text(), 'What happened, for people.'),
  source: optional(source, 'Who reported the event.'),
  reportingComponent: optional(text(), 'Component that reported the event.'),
  firstTimestamp: optional(text(), 'Time of the first occurrence.'),
  lastTimestamp: optional(text(), 'Time of the last occurrence.'),
  count: optional(integer(), 'Number of occurrences.'),
})

/** The same with other names of its members (Kubernetes, events.k8s.io/v1). */
export const event = platformKind('Event', {
  ...common,
  regarding: optional(subject(), 'The object.'),
  related: optional(subject(), 'Another object that takes part.'),
  note: optional(text(), 'What happened, for people.'),
  reportingController: optional(text(), 'Component that reported the event.'),
  deprecatedSource: optional(source, 'Who reported the event, in the older form.'),
  deprecatedFirstTimestamp: optional(text(), 'Time of the first occurrence, in the older form.'),
  deprecatedLastTimestamp: optional(text(), 'Time of the last occurrence, in the older form.'),
  deprecatedCount: optional(integer(), 'Number of occurrences, in the older form.'),
})
