import { expect, test } from 'vitest'
import { createMetrics } from './metrics.ts'

test('metrics are rendered with their unit, and methods and statuses are bounded sets', async () => {
  const metrics = createMetrics({ defaults: false })
  metrics.observeRequest('/v1/rates', 'GET', 200, 0.004)
  metrics.observeRequest('unmatched', 'BREW', 405, 0.004)
  for (let n = 0; n < 3; n++) metrics.quoted('quoted')
  metrics.quoted('refused')
  metrics.openExchanges(
    new Map([
      ['pending', 3],
      ['sending', 1],
    ]),
  )
  metrics.openExchanges(new Map([['pending', 2]]))
  metrics.openAlarms([{ kind: 'held', severity: 'warning', count: 4 }])
  metrics.openAlarms([{ kind: 'intrusion', severity: 'critical', count: 1 }])
  metrics.watcherLag('btc', 2)
  await metrics.render()
  const text = await metrics.render()
  expect(text).toContain('swapyard_quotes_total{outcome="quoted"} 3')
  expect(text).toContain('swapyard_quotes_total{outcome="refused"} 1')
  expect(text).toContain('swapyard_http_request_duration_seconds_count{route="/v1/rates",method="GET",status="200"} 1')
  expect(text).toContain('method="other"')
  expect(text).not.toContain('BREW')
  expect(text).toContain('swapyard_open_exchanges{status="pending"} 2')
  expect(text).not.toContain('status="sending"')
  expect(text).toContain('swapyard_open_alarms{kind="intrusion",severity="critical"} 1')
  expect(text).not.toContain('kind="held"')
  expect(text).toContain('swapyard_watcher_lag_blocks{network="btc"} 2')
})
