import fc from 'fast-check'
import { Histogram, Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { createRequestHistogram } from './request-histogram.ts'

const BUCKETS = [0.001, 0.01, 0.1, 1]

const request = fc.record({
  route: fc.constantFrom('/v1/rates', '/v1/exchange/:id', 'unmatched', 'a "quoted"\\ one\nin two lines'),
  method: fc.constantFrom('GET', 'POST', 'BREW'),
  status: fc.constantFrom(200, 404, 503),
  seconds: fc.oneof(fc.constantFrom(0, ...BUCKETS), fc.double({ min: 0, max: 100, noNaN: true })),
})

test('is written as prom-client writes the same', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(request, { maxLength: 60 }), async (requests) => {
      const registry = new Registry()
      const theirs = new Histogram({
        name: 'requests_seconds',
        help: 'Requests',
        labelNames: ['route', 'method', 'status'] as const,
        buckets: BUCKETS,
        registers: [registry],
      })
      const ours = createRequestHistogram('requests_seconds', 'Requests', BUCKETS)
      for (const { route, method, status, seconds } of requests) {
        ours.observe(route, method, status, seconds)
        theirs.observe({ route, method: method === 'BREW' ? 'other' : method, status: String(status) }, seconds)
      }
      expect(ours.render()).toBe(await registry.metrics())
    }),
  )
})
