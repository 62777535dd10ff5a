import { ActButton } from './act-button.tsx'

type Props = Readonly<{
  scope: string
  isPaused: boolean
  /** What is paused, in the text of the button. */
  what?: string
}>

/** Begins the pause of a scope, or ends it. */
export function PauseButton({ scope, isPaused, what }: Props) {
  const verb = isPaused ? 'End the pause' : 'Pause'
  const ofWhat = isPaused ? ` of ${what}` : ` ${what}`
  return (
    <ActButton
      act={isPaused ? 'pauses-end' : 'pauses-begin'}
      label={what === undefined ? verb : `${verb}${ofWhat}`}
      given={{ scope }}
    />
  )
}
