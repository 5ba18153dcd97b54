/** The types of the contract, which are generated from api/openapi.yaml by npm run generate. */
export type * from "./contract.gen";
