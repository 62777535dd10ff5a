import { type AddressQuery, type AddressValidation, routes } from '@swapyard/schema'
import { type ApiContext, mount } from '../../core/http/mount.ts'
import type { CheckedAddress, ExchangeServices } from '../interfaces.ts'

export function mountAddresses(context: ApiContext<ExchangeServices>): void {
  mount(context, routes.validateAddress, async (request, reply) => {
    const { currency, network, address, memo } = request.query as AddressQuery
    reply.header('cache-control', 'no-store')
    return presentCheck(await context.services.checkAddress({ currency, network, address, memo }))
  })
}

function presentCheck({ destination, problems }: CheckedAddress): AddressValidation {
  const hasProblem = (name: string) => problems.some(({ field }) => field === name)
  return {
    valid: problems.length === 0,
    address: hasProblem('address') ? null : (destination?.address ?? null),
    memo: hasProblem('memo') ? null : (destination?.memo ?? null),
    errors: problems.map(({ code, field, message }) => ({
      code,
      ...(field === undefined ? {} : { field }),
      ...(message === undefined ? {} : { message }),
    })),
  }
}
