import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defiNetworks, exchangeStatuses, statusReasons } from '@swapyard/schema'
import { expect, test } from 'vitest'
import * as domain from '../../../src/exchange/domain/exchange.ts'
import { swapNetworks } from '../../../src/swap/domain/swap.ts'

/* The wire schema lists its enum values separately, so that a new value of the domain is not published by accident. */

test.each([
  ['statuses', exchangeStatuses, domain.exchangeStatuses],
  ['reasons', statusReasons, domain.statusReasons],
  ['networks of swaps', defiNetworks, swapNetworks],
])('the %s of the OpenAPI document equal those of the domain', (_, published, internal) => {
  expect([...published].sort()).toEqual([...internal].sort())
})

test('every published reason of a status occurs in the code that sets it (I8)', () => {
  const root = join(import.meta.dirname, '../../../src')
  const setting = globSync('{exchange,adapters/postgres,cli}/**/*.ts', { cwd: root }).filter(
    (path) => !path.endsWith('.test.ts') && path !== 'exchange/domain/exchange.ts',
  )
  const text = setting.map((path) => readFileSync(join(root, path), 'utf8')).join('\n')
  expect(statusReasons.filter((reason) => !text.includes(`'${reason}'`))).toEqual([])
})
