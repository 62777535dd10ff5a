import { defiNetworks, exchangeStatuses, statusReasons } from '@swapyard/schema'
import { expect, test } from 'vitest'
import * as domain from '../../../src/exchange/domain/exchange.ts'
import { swapNetworks } from '../../../src/swap/domain/swap.ts'

/* The wire schema lists its enum values separately: adding a value to the domain does not publish it. */

test.each([
  ['statuses', exchangeStatuses, domain.exchangeStatuses],
  ['reasons', statusReasons, domain.statusReasons],
  ['networks of swaps', defiNetworks, swapNetworks],
])('the %s of the OpenAPI document are the domain’s', (_, published, known) => {
  expect([...published].sort()).toEqual([...known].sort())
})
