/** Something that must never be was found. */
export class Violation extends Error {}
