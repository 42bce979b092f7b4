import LarderTesting

typealias Sample = RepositoryConformance.Sample
typealias SampleModel = RepositoryConformance.SampleModel
typealias SampleMapper = RepositoryConformance.SampleMapper
typealias CodableSample = RepositoryConformance.CodableSample
