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
