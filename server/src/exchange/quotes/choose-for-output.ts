import type { Partner } from '../../core/domain/partner.ts'
import { chooseBestIntermediary, compareInputs, type QuotedIntermediary } from '../domain/intermediary.ts'
import type { PrivateType } from '../domain/private-plan.ts'
import {
  type ChooseIntermediary,
  type ChooseIntermediaryDependencies,
  type Endpoints,
  quoteCandidatesFor,
} from './choose-intermediary.ts'

export type ChooseForOutput = (
  partner: Partner,
  endpoints: Endpoints,
  type: PrivateType,
  toUnits: bigint,
) => QuotedIntermediary

/**
 * Chooses an amount that gives at least `toUnits`, and the intermediary that `choose` has for this amount, because a create
 * chooses again. Candidates are tried from the lowest cost: `choose` may prefer a faster one that gives less.
 */
export function createChooseForOutput(
  deps: ChooseIntermediaryDependencies,
  choose: ChooseIntermediary,
): ChooseForOutput {
  return (partner, endpoints, type, toUnits) => {
    const candidates = [...quoteCandidatesFor(deps, partner, endpoints, type, toUnits)].sort(compareInputs)
    // Throws the reason if the pair is not served.
    choose(partner, endpoints, type, candidates[0]?.quote.fromUnits ?? 1n)
    for (const { quote } of candidates.filter((one) => one.quote.withinBounds)) {
      const chosen = choose(partner, endpoints, type, quote.fromUnits)
      if (chosen.quote.toUnits >= toUnits) return chosen
    }
    return chooseBestIntermediary(candidates) ?? choose(partner, endpoints, type, 1n)
  }
}
