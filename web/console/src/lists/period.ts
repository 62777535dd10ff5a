import { dayAgo } from '../format/days.ts'
import type { Filter } from './filters.tsx'

/** The last 30 days, in UTC, until the operator chooses others. */
export const periodFilters = (): readonly Filter[] => [
  { name: 'from', label: 'From', type: 'date', initial: dayAgo(29), isRequired: true },
  { name: 'to', label: 'To', type: 'date', initial: dayAgo(0), isRequired: true },
]
