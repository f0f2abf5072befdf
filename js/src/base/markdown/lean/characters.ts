// What the parser needs of the package `uc.micro`.

export const P = /\p{P}/u;
export const S = /\p{S}/u;
