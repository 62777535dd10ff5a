export type ScreeningSubject = Readonly<{
  network: string
  address: string
  direction: 'recipient' | 'refund' | 'sender'
}>
export type Verdict = 'allow' | 'review' | 'block'

/** Screens an address when it is submitted, before a credit and before a payout. A timeout is `review`. */
export interface Screening {
  screen(subject: ScreeningSubject): Promise<Verdict>
}
